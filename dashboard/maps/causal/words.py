"""How to read the causal map, in words that follow the controls. The scripts say the same from the same facts."""

from dataclasses import dataclass

from analysis.data.tasks import builtin
from dashboard.maps.causal import evidence
from dashboard.maps.causal.gates import PREVIEW, fitted_seeds, is_of_one_seed, is_running, shown_tasks
from dashboard.maps.causal.state import CausalState
from dashboard.maps.map import MapView
from dashboard.maps.sentences import Said, bold

CausalView = MapView[CausalState]

_PROMPTS = {
    "both": "It is the mean over the prompts.",
    "always": "It is the gradient that all prompts share; 0 where they disagree.",
    "any": "It is the steepest gradient of any prompt.",
}
_LONGEST_EXAMPLE = 120  # characters
_ESTIMATE = "a first-order estimate"
_COLOURS = {"okabe-ito": ("blue", "orange", "grey"), "paper": ("green", "red", "black")}


@dataclass(frozen=True)
class CausalFacts:
    """What the sentence needs to know beside the state."""

    model: str
    example: str  # a prompt and the model's answer, or the right one
    seeds: str  # over which seeds, as a sentence


def facts(shown: CausalView) -> CausalFacts:
    """The facts about the result on the page."""
    return CausalFacts(shown.card.id, _example(shown), _seeds(shown))


def said(shown: CausalView) -> list[Said]:
    """What a square is, what its colour means, and over which seeds."""
    shown_facts, state = facts(shown), shown.state
    start = f"Each square is one attention head of {shown_facts.model}{shown_facts.example}; "
    if state.gates == PREVIEW:
        return [
            start,
            "its colour is ",
            bold(_ESTIMATE),
            ", from gradients alone, of whether the head helps or hurts the task. Fitted gates may say otherwise. "
            f"{_PROMPTS[state.columns]}",
        ]
    helps, hurts, neither = _COLOURS[shown.common.palette]
    meanings: dict[str, list[Said]] = {
        "both": [f"{helps} means that the task ", bold("needs"), f" it (facilitation F), {hurts} that it ",
                 bold("hurts"), f" the task (interference N), {neither} that it ",
                 bold("does not matter"), f" (irrelevance R){_disagreement(shown)}"],
        "facilitation": ["the stronger its colour, the more the task ", bold("needs"), " it (facilitation F)"],
        "interference": ["the stronger its colour, the more it ", bold("hurts"), " the task (interference N)"],
        "irrelevance": ["the stronger its colour, the ", bold("less it matters"), " to the task (irrelevance R)"],
    }  # fmt: skip
    return [start, *meanings[state.gates], f". {shown_facts.seeds}"]


def _example(shown: CausalView) -> str:
    """What the model was doing: a prompt with its own answer, in older results the first one with the right answer."""
    tasks = shown_tasks(shown.result, shown.state)
    for name in tasks:
        untouched = evidence.untouched(shown.result, name)
        if untouched is not None and untouched.example is not None:
            question, answer = _last_line(untouched.example.prompt), untouched.example.answer.strip()
            if question and len(question) + len(answer) <= _LONGEST_EXAMPLE:
                return f", while the model answers prompts such as “{question}” (its answer: {answer})"
    for name in tasks:
        task = builtin().get(name)
        if task is not None:
            question, answer = _last_line(task.train[0].prompt), task.train[0].target.strip()
            return f", while the model answers prompts such as “{question}” (right answer: {answer})"
    return ""


def _last_line(prompt: str) -> str:
    """The question itself, without examples before it."""
    lines = prompt.splitlines()
    return lines[-1] if lines else ""


def _disagreement(shown: CausalView) -> str:
    """What else a square without a role may be, of several seeds."""
    alone = bool(shown.state.one_seed) or is_of_one_seed(shown.result)
    return "" if alone or shown.state.columns == "any" else " or, under Always, that seeds disagree"


def _seeds(shown: CausalView) -> str:
    causal, state = shown.result, shown.state
    if state.one_seed:
        return f"Only seed {state.one_seed} is shown."
    counts = {len(fitted_seeds(causal, task)) for task in shown_tasks(causal, state)} - {0}
    asked = causal.provenance.settings.get("seeds", causal.score.sizes["sample"])
    progress = f" finished so far (of {asked})" if is_running(causal) else ""
    if not counts and progress:
        return f"No seed has finished yet (0 of {asked})."
    if not counts:
        return "No gates have been fitted for these tasks yet; Preview shows a first-order estimate."
    if counts == {1}:
        return f"One seed has{progress}." if progress else "One seed was fitted: Always and Any are the same."
    number = f"{min(counts)}" if len(counts) == 1 else f"{min(counts)} to {max(counts)}"
    return f"Always: in each of the {number} seeds{progress}. Any: in at least one."
