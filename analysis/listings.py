"""Lists for a terminal: models, the cache."""

from collections.abc import Sequence

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
