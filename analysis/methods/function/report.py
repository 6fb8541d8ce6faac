"""Scores as plain data for scripts and as text for a terminal."""

import gzip
import json
from collections.abc import Iterable, Sequence
from typing import Any

from analysis.data.relations import CATEGORIES
from analysis.models.card import HeadId, ModelCard
from analysis.results.scores import KINDS, ONLY_SAMPLE, TAU, Scores

_TOP = 3  # heads shown for a relation
_CONTROL = {code: chr(0x2400 + code) for code in range(32)}  # Unicode has a sign for each: ␍ for a carriage return
_SIGNS = _CONTROL | {ord(" "): "␣", ord("\n"): "⏎", ord("\t"): "⇥", 0x7F: "␡", 0xA0: "⍽"}


def map_data(scores: Scores, facts: dict[str, Any]) -> dict[str, Any]:
    """A summary of a function map: the best heads of every relation, the size of every category."""
    return {
        "model": scores.provenance.model.to_dict(),
        "settings": scores.provenance.settings,
        "relations": [_relation_data(scores, item) for item in scores.provenance.items],
        "categories": _categories(scores),
        **facts,
    }


def _relation_data(scores: Scores, item: dict[str, Any]) -> dict[str, Any]:
    data = {key: item[key] for key in ("name", "category", "title", "k", "pairs", "kept", "applicable")}
    for kind in KINDS if item["applicable"] else ():
        best = scores.top(item["name"], _TOP, kind)
        data[kind] = [{"head": str(head), "score": round(score, 4), "hits": hits} for head, score, hits in best if hits]
    return data


def _layers(scores: Scores) -> str:
    chosen, all_ = len(scores.provenance.settings["layers"]), len(scores.provenance.model.layers)
    return f"{all_} layers" if chosen == all_ else f"{chosen} of {all_} layers"


def _categories(scores: Scores) -> dict[str, dict[str, int]]:
    """How many heads belong to each category when any, or all, of its relations are asked for."""
    counts: dict[str, dict[str, int]] = {}
    for how in ("any", "always"):
        flags = scores.classified(TAU, "always" if how == "always" else "any").isel(sample=0)
        for name in flags.category.values.tolist():
            counts.setdefault(name, {})[how] = int(flags.sel(category=name).sum())
    return counts


def map_text(scores: Scores, facts: dict[str, Any]) -> str:
    """The summary as a table."""
    data, card = map_data(scores, facts), scores.provenance.model
    settings = scores.provenance.settings
    first_mlp = "on" if settings["first_mlp"] else "off"
    lines = [
        f"{card.id} {card.revision[:12]} · {card.family} · {_layers(scores)} × {card.heads} heads",
        f"k = {settings['k_standard']} (copying {settings['k_copying']}) · first MLP {first_mlp} · "
        f"{card.note or card.dtype}",
        "",
    ]
    wide = max(len("relation"), *(len(relation["title"]) for relation in data["relations"]))
    lines.append(f"{'relation':{wide}}  {'pairs':>9}  {'best heads: promote':42} suppress")
    for category in CATEGORIES:
        members = [relation for relation in data["relations"] if relation["category"] == category]
        lines.extend(([f"{category}"] if members else []) + [_relation_line(relation, wide) for relation in members])
    lines.append("")
    lines.append(f"Heads above τ = {TAU}: " + ", ".join(f"{n} {c['any']}" for n, c in data["categories"].items()))
    where = f"written to {facts['out']}, " if facts["out"] else ""
    verb = "found in" if facts["from_store"] else "kept in"
    lines.append(f"{facts['seconds']:.1f} s; {where}{verb} the store {facts['store']}")
    return "\n".join(lines)


def _relation_line(relation: dict[str, Any], wide: int) -> str:
    pairs = f"{relation['kept']}/{relation['pairs']}"
    start = f"{relation['title']:{wide}}  {pairs:>9}  "
    if not relation["applicable"]:
        return f"{start}not applicable: fewer than 30 pairs are single tokens of this model"
    promote, suppress = (" ".join(f"{b['head']} {b['score']:.2f}" for b in relation[kind]) or "–" for kind in KINDS)
    return f"{start}{promote:42} {suppress}"


def head_data(scores: Scores, head: HeadId, operations: list[dict[str, Any]]) -> dict[str, Any]:
    """All that is known of a head from its weights."""
    card = scores.provenance.model
    return {
        "model": card.to_dict(),
        "head": str(head),
        "heads": len(card.layers) * card.heads,
        "relations": [_head_relation(scores, head, item) for item in scores.provenance.items],
        "salient": operations,
        "group_mates": [_mate(scores, mate) for mate in card.group_mates(head)],
    }


def _head_relation(scores: Scores, head: HeadId, item: dict[str, Any]) -> dict[str, Any]:
    data = {key: item[key] for key in ("name", "category", "title", "kept", "applicable")}
    for kind in KINDS if item["applicable"] and _computed(scores, item["name"], head) else ():
        score, hits = _at(scores, item["name"], kind, head)
        data[kind] = {"score": score, "hits": hits, "rank": scores.rank(item["name"], head, kind)}
    return data


def _computed(scores: Scores, item: str, head: HeadId) -> bool:
    """Whether the head's layer was looked at; a map may be of some layers only."""
    where = {"item": item, "sample": ONLY_SAMPLE, "layer": head.layer, "head": head.head}
    return not bool(scores.score.sel(where).isnull().any())


def _at(scores: Scores, item: str, kind: str, head: HeadId) -> tuple[float, int]:
    where = {"item": item, "kind": kind, "sample": ONLY_SAMPLE, "layer": head.layer, "head": head.head}
    return float(scores.score.sel(where)), int(scores.hits.sel(where))


def _mate(scores: Scores, head: HeadId) -> dict[str, Any]:
    """A group mate with the relation it is best at, if any reaches τ."""
    best = max(
        (
            (*_at(scores, item, kind, head), item, kind)
            for item in scores.items()
            if _computed(scores, item, head)
            for kind in KINDS
        ),
        default=None,
    )
    if best is None or not best[0] > TAU:
        return {"head": str(head)}
    return {
        "head": str(head),
        "item": best[2],
        "title": scores.item(best[2])["title"],
        "kind": best[3],
        "score": best[0],
    }


def salience_file(card: ModelCard, found: dict[int, list[list[dict[str, Any]]]]) -> bytes:
    """All heads' salient tokens as compressed JSON; the same bytes each time they are made of the same numbers."""
    layers = {
        layer: [[_shortened(operation) for operation in head] for head in heads] for layer, heads in found.items()
    }
    content = json.dumps({"model": card.to_dict(), "layers": layers}, ensure_ascii=False, separators=(",", ":"))
    return gzip.compress(content.encode(), mtime=0)


def _shortened(operation: dict[str, Any]) -> dict[str, Any]:
    """Texts only, for what is promoted and suppressed, and three decimals."""
    kinds = ("promoted", "suppressed")
    texts = {kind: [{"text": entry["text"]} for entry in operation[kind]] for kind in kinds}
    return {"text": operation["text"], "sigma": round(operation["sigma"], 3), **texts}


def head_text(data: dict[str, Any]) -> str:
    """The head on one screen."""
    card = data["model"]
    usable = [relation for relation in data["relations"] if KINDS[0] in relation]
    usable.sort(key=lambda relation: -max(relation[kind]["score"] for kind in KINDS))
    wide = max(len("relation"), 0, *(len(relation["title"]) for relation in usable))
    lines = [
        f"{data['head']} of {card['id']} {card['revision'][:12]}",
        "",
        f"{'relation':{wide}}  promotes{'':22}suppresses",
    ]
    for relation in usable:
        lines.append(
            f"{relation['title']:{wide}}  " + "".join(_score_text(relation, kind, data["heads"]) for kind in KINDS)
        )
    absent = [relation["title"] for relation in data["relations"] if not relation["applicable"]]
    if absent:
        lines.append(f"not applicable to this model: {', '.join(absent)}")
    lines += ["", "salient tokens (σ)  → promotes | suppresses"]
    lines += [_operation_line(operation) for operation in data["salient"]]
    if data["group_mates"]:
        lines += ["", "shares its value matrix with"] + [_mate_line(mate) for mate in data["group_mates"]]
    return "\n".join(line.rstrip() for line in lines)


def _score_text(relation: dict[str, Any], kind: str, heads: int) -> str:
    found = relation[kind]
    rank = f"  rank {found['rank']} of {heads}" if found["hits"] else ""  # among heads without a hit it means nothing
    text = f"{found['score']:.2f}  {found['hits']}/{relation['kept']}{rank}"
    return f"{text:30}"


def _operation_line(operation: dict[str, Any]) -> str:
    promoted, suppressed = (_tokens(entry["text"] for entry in operation[kind]) for kind in ("promoted", "suppressed"))
    return f"{printable(operation['text']):>18} {operation['sigma']:6.2f}  → {promoted} | {suppressed}"


def _tokens(texts: Iterable[str]) -> str:
    return " ".join(printable(text) for text in texts)


def printable(text: str) -> str:
    """A token as it can be shown: spaces and control characters by their signs, what else is unseen by its number."""
    return "".join(c if c.isprintable() else f"⟨{ord(c):x}⟩" for c in text.translate(_SIGNS)) or "∅"


def _mate_line(mate: dict[str, Any]) -> str:
    if "item" not in mate:
        return f"  {mate['head']}"
    verb = "promotes" if mate["kind"] == "promote" else "suppresses"
    return f"  {mate['head']}  {verb} {mate['title']} {mate['score']:.2f}"


def models_text(models: Sequence[dict[str, Any]]) -> str:
    """One model a line."""
    lines = []
    for model in models:
        shape = (
            f"{len(model['layers'])} × {model['heads']} heads  {model['fingerprint'][:8]}" if "layers" in model else ""
        )
        results = (
            f"{model['results']} result{'s' if model['results'] != 1 else ''}" if model["results"] else "no results yet"
        )
        lines.append(f"{model['id']:40} {shape:26} {results}")
    return "\n".join(lines)


def cache_text(data: dict[str, Any]) -> str:
    """Where the cache is and how much it holds."""
    pruned = f"removed {data['pruned']} entries\n" if data["pruned"] else ""
    return (
        f"{pruned}{data['folder']}\nresults  {data['store_bytes'] / 1e6:8.1f} MB in {data['entries']} entries\n"
        f"models   {data['models_bytes'] / 1e6:8.1f} MB converted"
    )


def relations_text(relations: Sequence[dict[str, Any]]) -> str:
    """One relation a line, by the name that the command line takes."""
    lines = [f"{r['category']:12} {r['name']:22} {r['pairs']:5} pairs  {r['sentence']}" for r in relations]
    return "\n".join(lines)
