"""Lists for a terminal: models, relations, tasks, the cache."""

from collections.abc import Sequence

from analysis.models.vocabulary import MIN_PAIRS
from analysis.results.provenance import Plain


def models_text(models: Sequence[Plain]) -> str:
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


def cache_text(data: Plain) -> str:
    """Where the cache is and how much it holds."""
    pruned = f"removed {data['pruned']} entries\n" if data["pruned"] else ""
    return (
        f"{pruned}{data['folder']}\nresults  {data['store_bytes'] / 1e6:8.1f} MB in {data['entries']} entries\n"
        f"models   {data['models_bytes'] / 1e6:8.1f} MB converted or fetched"
    )


def sets_text(sets: Sequence[Plain]) -> str:
    """One set of people's own relations per line."""
    lines = []
    for one in sets:
        hidden = "  hidden" if one["hidden"] else ""
        what, models = ", ".join(one["relations"]), ", ".join(one["models"])
        lines.append(f"{one['id']}  {one['name']:24} {what}  (scores of {models}){hidden}")
    return "\n".join(lines) or "nobody brought relations of their own yet"


def relations_text(relations: Sequence[Plain]) -> str:
    """One relation per line, by the name that the command line takes."""
    lines = []
    for relation in relations:
        start = f"{relation['category']:12} {relation['name']:22} {relation['pairs']:5} pairs"
        lines.append(f"{start}  {relation['sentence']}")
    return "\n".join(lines)


def kept_text(relations: Sequence[Plain]) -> str:
    """One relation per line with the pairs that a model's tokens keep."""
    width = max(len(relation["title"]) for relation in relations)
    lines = [f"{'relation':{width}}  {'pairs':>5}  {'single tokens':>13}  {'added by sources of several tokens':>34}"]
    for relation in relations:
        kept, added = relation["kept"], relation["added"]
        usable = "" if kept + added >= MIN_PAIRS else f"  not applicable: {MIN_PAIRS} are needed"
        lines.append(f"{relation['title']:{width}}  {relation['pairs']:5}  {kept:13}  {added:34}{usable}")
    return "\n".join(lines)


def tasks_text(tasks: Sequence[Plain]) -> str:
    """One task per paragraph."""
    paragraphs = []
    for task in tasks:
        paragraphs.append(
            f"{task['name']}: {task['sentence']}\n"
            f"  {task['train']:,} prompts for training, {task['validation']} for validation\n"
            f"  kinds: {', '.join(task['kinds'])}\n"
            f"  for example {task['example']!r} → {task['target']!r}"
        )
    return "\n\n".join(paragraphs)
