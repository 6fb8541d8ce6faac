"""Scores for relations as plain data for scripts and as text for a terminal; several samples by their mean."""

import math

from analysis.data.relations import CATEGORIES
from analysis.models.card import HeadId
from analysis.models.vocabulary import MIN_PAIRS
from analysis.relations.labels import copy_like, uncertain, unspecific
from analysis.relations.layer import PARTS, part_name
from analysis.relations.scores import KINDS, TAU, classified
from analysis.results.intervals import wilson
from analysis.results.provenance import JsonObject, ScoredItem
from analysis.results.scores import ONLY_SAMPLE, Scores

_TOP = 3  # heads shown for a relation
_HEADING = f"{'':10}  {'score (95 %)':16}  {'hits':>9}  {'rank':>11}  {'β':>4}  control"


def map_data(scores: Scores) -> JsonObject:
    """The best heads of every relation, the size of every category."""
    scores = scores.over_samples("mean")
    return {
        "model": scores.provenance.model.to_dict(),
        "settings": dict(scores.provenance.settings),
        "relations": [_relation_data(scores, item) for item in scores.provenance.items],
        "categories": _categories(scores),
    }


def _relation_data(scores: Scores, item: ScoredItem) -> JsonObject:
    data: JsonObject = {
        "name": item.name,
        "category": item.category,
        "title": item.title,
        "k": item.k,
        "pairs": item.pairs,
        "kept": item.kept,
        "several": item.several,
        "applicable": item.applicable,
    }
    if not item.applicable:
        data["reason"] = item.reason or f"fewer than {MIN_PAIRS} pairs are single tokens of this model"
        return data
    for kind in KINDS:
        best = []
        for head, score, hits in scores.top(item.name, _TOP, kind):
            if hits:
                worth = _worth(scores, item, kind, head, hits)
                best.append({"head": str(head), "score": round(score, 4), "hits": hits, **worth})
        data[kind] = best
    return data


def _worth(scores: Scores, item: ScoredItem, kind: str, head: HeadId, hits: float) -> JsonObject:
    """How sure a score is and what it is compared with; None where that was not measured."""
    low, high = wilson(hits, item.kept)
    data: JsonObject = {"low": round(float(low), 4), "high": round(float(high), 4)}
    for part in PARTS:
        data[part] = _part_at(scores, part_name(part, kind), item.name, head)
    beyond, control = data["beyond"], data["control"]
    data["specific"] = None if control is None else not unspecific(control, TAU)
    data["beyond_copying"] = None if beyond is None else not copy_like(beyond)
    data["uncertain"] = bool(uncertain(hits, item.kept, TAU))
    return data


def _part_at(scores: Scores, part: str, item: str, head: HeadId) -> float | None:
    values = scores.part(part, item)
    if values is None:
        return None
    value = float(values[scores.provenance.model.layers.index(head.layer), head.head])
    return None if math.isnan(value) else round(value, 4)


def _categories(scores: Scores) -> dict[str, dict[str, int]]:
    """How many heads belong to each category when any, or all, of its relations are asked for."""
    some = classified(scores, TAU, "any").isel(sample=0)
    every = classified(scores, TAU, "always").isel(sample=0)
    counts = {}
    for name in some.category.values.tolist():
        counts[name] = {"any": int(some.sel(category=name).sum()), "always": int(every.sel(category=name).sum())}
    return counts


def map_text(scores: Scores, own_settings: str) -> str:
    """The summary as a table."""
    data, card = map_data(scores), scores.provenance.model
    settings = scores.provenance.settings
    own = f"{own_settings} · " if own_settings else ""
    lines = [
        f"{card.id} {card.revision[:12]} · {card.family} · {_layers(scores)} × {card.heads} heads",
        f"k = {settings['k_standard']} (copying {settings['k_copying']}) · {own}{card.note or card.dtype}",
        "",
    ]
    width = max(len("relation"), *(len(relation["title"]) for relation in data["relations"]))
    room = max(9, *(len(_pairs_text(relation)) for relation in data["relations"]))
    lines.append(f"{'relation':{width}}  {'pairs':>{room}}  {'best heads: promote':42} suppress")
    for category in CATEGORIES:
        members = [relation for relation in data["relations"] if relation["category"] == category]
        if members:
            lines.append(category)
        for relation in members:
            lines.append(_relation_line(relation, width, room))
    return "\n".join([*lines, "", _counts_text(data["categories"])])


def _counts_text(categories: JsonObject) -> str:
    """How many heads each category has."""
    if not categories:
        return "None of these relations applies to this model."
    counts = ", ".join(f"{name} {count['any']}" for name, count in categories.items())
    return f"Heads above τ = {TAU}: {counts}"


def _layers(scores: Scores) -> str:
    computed, total = len(scores.provenance.settings["layers"]), len(scores.provenance.model.layers)
    return f"{total} layers" if computed == total else f"{computed} of {total} layers"


def _pairs_text(relation: JsonObject) -> str:
    """Kept pairs of all; in brackets, how many of them have a source of several tokens."""
    several = f" (+{relation['several']})" if relation["several"] else ""
    return f"{relation['kept']}/{relation['pairs']}{several}"


def _relation_line(relation: JsonObject, width: int, room: int) -> str:
    start = f"{relation['title']:{width}}  {_pairs_text(relation):>{room}}  "
    if not relation["applicable"]:
        return f"{start}not applicable: {relation['reason']}"
    best = {}
    for kind in KINDS:
        best[kind] = " ".join(f"{entry['head']} {entry['score']:.2f}" for entry in relation[kind]) or "–"
    return f"{start}{best['promote']:42} {best['suppress']}"


def head_data(scores: Scores, head: HeadId) -> JsonObject:
    """All that is known of what a head does: of each relation and kind the score, its rank and what it is worth."""
    scores = scores.over_samples("mean")
    card = scores.provenance.model
    return {
        "relations": [_head_relation(scores, head, item) for item in scores.provenance.items],
        "group_mates": [_mate(scores, mate) for mate in card.group_mates(head)],
    }


def _head_relation(scores: Scores, head: HeadId, item: ScoredItem) -> JsonObject:
    data: JsonObject = {
        "name": item.name,
        "category": item.category,
        "title": item.title,
        "kept": item.kept,
        "several": item.several,
        "applicable": item.applicable,
    }
    if not item.applicable or not _is_computed(scores, item.name, head):
        return data
    for kind in KINDS:
        score, hits = _at(scores, item.name, kind, head)
        rank = scores.rank(item.name, head, kind)
        data[kind] = {"score": score, "hits": hits, "rank": rank, **_worth(scores, item, kind, head, hits)}
    return data


def _is_computed(scores: Scores, item: str, head: HeadId) -> bool:
    """Whether the head's layer was looked at; a map may be of some layers only."""
    where = {"item": item, "sample": ONLY_SAMPLE, "layer": head.layer, "head": head.head}
    return not bool(scores.score.sel(where).isnull().any())


def _at(scores: Scores, item: str, kind: str, head: HeadId) -> tuple[float, float]:
    where = {"item": item, "kind": kind, "sample": ONLY_SAMPLE, "layer": head.layer, "head": head.head}
    return float(scores.score.sel(where)), _whole(float(scores.hits.sel(where)))


def _whole(hits: float) -> float:
    """An integer where it is one: the mean of several samples may not be."""
    return int(hits) if hits == int(hits) else round(hits, 2)


def _mate(scores: Scores, head: HeadId) -> JsonObject:
    """A group mate with the relation it is best at, if any reaches τ."""
    best_score, best_item, best_kind = TAU, "", ""
    for item in scores.items():
        if not _is_computed(scores, item, head):
            continue
        for kind in KINDS:
            score, _ = _at(scores, item, kind, head)
            if score > best_score:
                best_score, best_item, best_kind = score, item, kind
    if not best_item:
        return {"head": str(head)}
    title = scores.item(best_item).title
    return {"head": str(head), "item": best_item, "title": title, "kind": best_kind, "score": best_score}


def head_lines(scores: Scores, head: HeadId) -> list[str]:
    """The head on one screen."""
    data = head_data(scores, head)
    heads = len(scores.provenance.model.layers) * scores.provenance.model.heads
    usable = [relation for relation in data["relations"] if KINDS[0] in relation]
    hit, silent = _rows(usable)
    width = max([len("relation"), *(len(relation["title"]) for relation, _ in hit)])
    lines = [f"{'relation':{width}}  {_HEADING}"] if hit else []
    for relation, kind in hit:
        lines.append(f"{relation['title']:{width}}  {_score_text(relation, kind, heads)}".rstrip())
    if silent:
        lines.append(f"no hit: {', '.join(silent)}")
    absent = [relation["title"] for relation in data["relations"] if not relation["applicable"]]
    if absent:
        lines.append(f"not applicable to this model: {', '.join(absent)}")
    if data["group_mates"]:
        lines += ["", "shares its value matrix with"]
        lines += [_mate_line(mate) for mate in data["group_mates"]]
    return lines


def _rows(usable: list[JsonObject]) -> tuple[list[tuple[JsonObject, str]], list[str]]:
    """Relation and kind of each score that is not 0, the highest first; the relations that have none."""
    hit, silent = [], []
    for relation in usable:
        kinds = [kind for kind in KINDS if relation[kind]["hits"]]
        hit += [(relation, kind) for kind in kinds]
        if not kinds:
            silent.append(relation["title"])
    hit.sort(key=lambda row: -row[0][row[1]]["score"])
    return hit, silent


def _score_text(relation: JsonObject, kind: str, heads: int) -> str:
    values = relation[kind]
    verb = "promotes" if kind == "promote" else "suppresses"
    interval = f"({values['low']:.2f}–{values['high']:.2f})"
    hits, rank = f"{values['hits']}/{relation['kept']}", f"{values['rank']} of {heads}"
    beyond, control = _number(values["beyond"]), _number(values["control"])
    remarks = ", ".join(_remarks(values))
    return (
        f"{verb:10}  {values['score']:.2f} {interval:11}  {hits:>9}  {rank:>11}  {beyond:>4}  {control:>7}  {remarks}"
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _remarks(values: JsonObject) -> list[str]:
    """What speaks against a label, if the score is one."""
    remarks = []
    if values["score"] > TAU:
        if values["specific"] is False:
            remarks.append("unspecific")
        if values["beyond_copying"] is False:
            remarks.append("copy-like")
        if values["uncertain"]:
            remarks.append("uncertain")
    return remarks


def _mate_line(mate: JsonObject) -> str:
    if "item" not in mate:
        return f"  {mate['head']}"
    verb = "promotes" if mate["kind"] == "promote" else "suppresses"
    return f"  {mate['head']}  {verb} {mate['title']} {mate['score']:.2f}"
