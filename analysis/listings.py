"""Lists for a terminal: models, jobs, the cache, the answers to a search."""

from collections.abc import Sequence

from analysis.evidence.heads import Answer
from analysis.models.card import ModelCard
from analysis.results.provenance import PlainValues

_SHOWN = 2  # findings per head


def models_text(models: Sequence[PlainValues]) -> str:
    """One model per line."""
    lines = []
    for model in models:
        shape = ""
        if "layers" in model:
            shape = f"{len(model['layers'])} × {model['heads']} heads  {model['fingerprint'][:8]}"
        count = model["results"]
        results = f"{count} {'result' if count == 1 else 'results'}" if count else "no results yet"
        lines.append(f"{model['id']:40} {shape:26} {results}")
    return "\n".join(lines)


def jobs_text(jobs: Sequence[PlainValues]) -> str:
    """One job per line, the oldest first."""
    lines = []
    for job in jobs:
        when = job["finished"] or job["created"]
        lines.append(f"{job['id']:18} {job['state']:10} {when:21} {job['model']} ({', '.join(job['asked'])})")
    return "\n".join(lines) or "no jobs"


def cache_text(data: PlainValues) -> str:
    """Where the cache is and how much it holds."""
    pruned = f"removed {data['pruned']} entries\n" if data["pruned"] else ""
    return (
        f"{pruned}{data['folder']}\nresults  {data['store_bytes'] / 1e6:8.1f} MB in {data['entries']} entries\n"
        f"models   {data['models_bytes'] / 1e6:8.1f} MB converted or fetched"
    )


def sets_text(sets: Sequence[PlainValues]) -> str:
    """One custom relation set per line."""
    lines = []
    for one in sets:
        hidden = "  hidden" if one["hidden"] else ""
        what, models = ", ".join(one["relations"]), ", ".join(one["models"])
        lines.append(f"{one['id']}  {one['name']:24} {what}  (scores of {models}){hidden}")
    return "\n".join(lines) or "there are no sets of your own relations yet"


def answers_text(card: ModelCard, text: str, answers: Sequence[Answer]) -> str:
    """One head per paragraph, the strongest first."""
    if not answers:
        return f"No head of {card.id} is known for {text!r}. Try a relation, a token, a task, or a head's name."
    lines = []
    for answer in answers:
        first, *others = [finding.text for finding in answer.findings[:_SHOWN]] or ["nothing is known about it"]
        lines.append(f"{answer.head!s:8} {first}")
        lines += [f"{'':8} {other}" for other in others]
    return "\n".join(lines)
