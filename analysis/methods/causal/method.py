"""The causal map as a method: its settings, how fits are ranked, merged and named, what it says of a head."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import xarray as xr

from analysis.data.files import OwnFile
from analysis.data.tasks import SENTENCES
from analysis.method import Method, RequestSummary, Tool, digest
from analysis.methods.causal import report
from analysis.methods.causal.commands import file_name, fit_command, is_own
from analysis.methods.causal.contrast import ContrastPlan, without_pushes
from analysis.methods.causal.findings import causal_answers, causal_findings
from analysis.methods.causal.legacy import legacy_settings
from analysis.methods.causal.plan import TaskPlan
from analysis.methods.causal.result import (
    CONTRAST,
    EFFECT,
    GRADIENT,
    HEAD_ROLES,
    NAME,
    ROLE_THRESHOLD,
    VERSION,
    upgraded,
)
from analysis.methods.causal.settings import CausalSettings, GateSettings
from analysis.methods.causal.tools import TOOLS
from analysis.models.card import HeadId, ModelCard
from analysis.options import Command
from analysis.results.findings import Finding, SearchQuestion
from analysis.results.labels import LabelRule
from analysis.results.merging import merge, only
from analysis.results.provenance import JsonObject, PlainValues, Provenance
from analysis.results.scores import Missing, Scores, over_present

PREVIEW = "preview"  # the variant without fits
_FIT_OPTIONS = ("published", "updates", "batch", "rates", "clip", "push", "seeds")
_FIT_SETTINGS = (*GateSettings.__dataclass_fields__, "seeds")


class CausalMethod(Method):
    """Whether a head helps, hurts or does not matter for a task (Causal Head Gating)."""

    name = NAME
    title = "Causal map"
    sentence = "Whether each head helps or hurts a task: gates are fitted, hours on a CPU."
    version = VERSION
    settings = CausalSettings
    answers_whether = True
    label = LabelRule(ROLE_THRESHOLD, "θ", "F or N", samples="seeds")
    commands = (
        Command(
            "gates",
            "which heads a task needs: the causal map",
            ("tasks", *_FIT_OPTIONS, "together"),
            flags=(("preview", "only the quick estimate from one backward pass", {"seeds": 0}),),
            ignored=("no-first-mlp",),
        ),
        Command(
            "contrast",
            "heads that one behaviour needs and another does not",
            _FIT_OPTIONS,
            position="contrast",
            ignored=("no-first-mlp",),
        ),
    )

    def plan(self, card: ModelCard, settings: CausalSettings) -> TaskPlan | ContrastPlan:
        """For a model; refuses invalid settings."""
        contrast, seeds = settings.chosen_contrast(), settings.chosen_seeds()
        if contrast is not None:
            return ContrastPlan(card, contrast, seeds, settings.gates())
        return TaskPlan(card, settings.chosen_tasks(), seeds, settings.gates(), settings.together)

    def commands_for(self, provenance: Provenance) -> list[list[str]]:
        """One for each task or pairs: in a map of several results each was fitted in its own way."""
        commands = []
        for item in provenance.items:
            commands.append(fit_command(provenance.model, item, item.settings or provenance.settings))
        return commands

    def files_of(self, provenance: Provenance) -> list[str]:
        """Prompts of one's own."""
        return [file_name(item) for item in provenance.items if is_own(item)]

    def tools(self) -> Sequence[Tool]:
        """The list of tasks."""
        return TOOLS

    # ---- Requests --------------------------------------------------------------------------------------------------

    def asked(self, settings: CausalSettings, card: ModelCard | None = None) -> RequestSummary:
        """The tasks or pairs, under the name that their fit will have."""
        contrast, seeds = settings.chosen_contrast(), settings.chosen_seeds()
        chosen = [contrast] if contrast is not None else list(settings.chosen_tasks())
        fit: PlainValues = {**asdict(settings.gates()), "seeds": seeds}
        if contrast is not None:
            fit = without_pushes(dict(fit))
        choice = fit_name(fit, [(task.name, task.hash) for task in chosen])
        variant = CONTRAST.name if contrast is not None else "" if seeds else PREVIEW
        words = f"{', '.join(task.title for task in chosen)} ({fit_words(fit)})"
        return RequestSummary(tuple(task.name for task in chosen), choice, variant, words)

    def takes(self, field: str, file: OwnFile) -> bool:
        """Prompts with targets."""
        return file.is_task

    def identity(self, settings: CausalSettings) -> Any:
        """The content of the tasks or pairs; how many seeds share a batch changes nothing."""
        contrast = settings.chosen_contrast()
        if contrast is not None:
            content: Any = contrast.hash
        else:
            content = sorted([task.name, task.hash] for task in settings.chosen_tasks())
        return [content, settings.chosen_seeds(), asdict(settings.gates())]

    def legacy_settings(self, values: PlainValues) -> JsonObject:
        """Everything stood there in a part of its own, tasks and pairs parsed."""
        return legacy_settings(values[NAME]) if NAME in values else {}

    # ---- Results ---------------------------------------------------------------------------------------------------

    def upgraded(self, scores: Scores) -> Scores:
        """Files of the first version kept all but the scores as JSON in their provenance."""
        return upgraded(scores)

    def rank(self, scores: Scores) -> Any:
        """Any score at all, then a fit that runs, so that it is seen from its first seed on, then the longer one."""
        present = bool((scores.missing == Missing.PRESENT).any())
        running = bool((scores.missing == Missing.RUNNING).any())
        return present, running, _updates(scores.provenance.settings), scores.provenance.date

    def mergeable(self, provenance: Provenance) -> Any:
        """Gates are fitted with whatever settings suit the model; a task says by itself how."""
        return provenance.version

    def merged(self, results: Sequence[Scores], first: Scores | None = None) -> Scores:
        """Each task from the fit that goes first; the other fits of the same task are named beside it."""
        ordered = sorted(results, key=self.rank, reverse=True)
        best = first or ordered[0]
        alike = [other for other in ordered if self.mergeable(other.provenance) == self.mergeable(best.provenance)]
        others = [other for other in alike if other is not best]
        whole = _in_order(merge(_with_own_facts(best), [_with_own_facts(other) for other in others]))
        hidden = self._hidden(best, others)
        items = tuple(replace(item, besides=tuple(hidden.get(item.name, ()))) for item in whole.provenance.items)
        return replace(whole, provenance=replace(whole.provenance, items=items))

    def _hidden(self, best: Scores, others: Sequence[Scores]) -> dict[str, list[str]]:
        """By task, in words: the fits that another one of the same task hides."""
        shown = {item.name for item in best.provenance.items}
        hidden: dict[str, list[str]] = {}
        for other in others:
            names = {item.name for item in other.provenance.items}
            if (other.missing == Missing.PRESENT).any():
                for name in names & shown:
                    hidden.setdefault(name, []).append(self.words(other.provenance))
            shown |= names
        return hidden

    def choice(self, provenance: Provenance) -> str:
        """How addresses name a fit."""
        return fit_name(provenance.settings, [(item.name, item.hash) for item in provenance.items])

    def words(self, provenance: Provenance) -> str:
        """The tasks, and how they were fitted."""
        titles = ", ".join(item.title for item in provenance.items)
        date = f", {provenance.date[:10]}" if provenance.settings.get("seeds") else ""
        return f"{titles}: {fit_words(provenance.settings)}{date}"

    # ---- The terminal ----------------------------------------------------------------------------------------------

    def report(self, scores: Scores) -> JsonObject:
        """How many heads help or hurt, which do most, how well the untouched model does the task."""
        return report.causal_data(scores)

    def report_text(self, scores: Scores) -> str:
        """The same in words."""
        return report.causal_text(scores)

    def head(self, scores: Scores, head: HeadId) -> JsonObject:
        """The head's gates in every task."""
        return {self.name: report.head_gates(scores, head)}

    def no_head(self, card: ModelCard, head: HeadId) -> JsonObject:
        """No tasks."""
        return {self.name: []}

    def head_text(self, scores: Scores, head: HeadId) -> list[str]:
        """Its mean scores in every task."""
        return report.head_lines(scores, head)

    def unit(self, item: str, kind: str) -> str:
        """Gates from shut to open, the change of the log-probability without the head, the slope of the loss."""
        return {EFFECT: "nats", GRADIENT: "nats per gate"}.get(kind, "gate")

    def strengths(self, scores: Scores, how: str = "mean") -> xr.DataArray:  # [item, layer, head]
        """Facilitation or interference, whichever is larger, over the seeds that were fitted."""
        roles = scores.score.sel(kind=list(HEAD_ROLES[:2]))
        return over_present(roles, how).max("kind")

    def findings(self, scores: Scores, head: HeadId) -> list[Finding]:
        """The tasks that need the head, or that it hurts."""
        return causal_findings(scores, head)

    def answers(self, scores: Scores, question: SearchQuestion) -> list[Finding]:
        """The heads that a task needs, or that hurt it."""
        return causal_answers(scores, question)


def fit_name(settings: PlainValues, tasks: Sequence[tuple[str, str]]) -> str:
    """A short name for fits of some tasks (name and hash) with some settings, as addresses have it."""
    chosen = {name: settings[name] for name in _FIT_SETTINGS if name in settings}
    return digest(["fit", chosen, sorted(tasks)])[:8]


def fit_words(settings: PlainValues) -> str:
    """How gates were fitted: updates, batch, seeds."""
    seeds = settings.get("seeds", 0)
    if not seeds:
        return "preview alone"
    updates = "+".join(str(settings[name]) for name in ("free_updates", "push_updates") if name in settings)
    batch = settings.get("batch", "?")
    return f"{updates} updates with batch size {batch}, {seeds} {'seed' if seeds == 1 else 'seeds'}"


def _updates(settings: PlainValues) -> int:
    return int(settings.get("free_updates", 0)) + int(settings.get("push_updates", 0))


def _in_order(scores: Scores) -> Scores:
    """The built-in tasks first, so that a panel keeps its place whichever fit is the newest."""
    builtin = list(SENTENCES)
    names = [item.name for item in scores.provenance.items]
    names.sort(key=lambda name: builtin.index(name) if name in builtin else len(builtin))
    return only(scores, names)


def _with_own_facts(scores: Scores) -> Scores:
    """Every task with the settings and the date of its own fit, because in a merged map they may differ."""
    provenance = scores.provenance
    items = []
    for item in provenance.items:
        own = provenance.settings if item.settings is None else item.settings
        items.append(replace(item, settings=own, computed=item.computed or provenance.date))
    return replace(scores, provenance=replace(provenance, items=tuple(items)))
