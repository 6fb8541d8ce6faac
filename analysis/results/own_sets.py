"""Sets of relations that people brought themselves: a view chooses one by its name, the built-in ones need none.

A set is the relations of one's own that a result was computed with. Its id is a hash of them, so that a link keeps its
meaning whatever the set is called and whoever brings another one.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from analysis.data.relations import OWN, WordPair
from analysis.errors import RelationError, SettingError
from analysis.results.merging import only
from analysis.results.provenance import Provenance, ScoredItem
from analysis.results.scores import Scores
from analysis.results.store import Store

SETTING = "set"  # of a result: what its own relations were called by the one who brought them
PAIRS = "pairs"  # of the records of a relation of one's own
LONGEST_NAME = 60
_NAME = re.compile(rf"[^\s@,][^@,\x00-\x1f\x7f]{{0,{LONGEST_NAME - 1}}}")
_ID = re.compile(r"[0-9a-f]{8}")


@dataclass(frozen=True)
class OwnSet:
    """A custom relation set."""

    id: str
    name: str
    items: tuple[ScoredItem, ...]
    models: tuple[str, ...]  # that have scores for it
    date: str  # when it was first computed
    hidden: bool = False  # not offered on the maps; links to it still open

    @property
    def address(self) -> str:
        """How a link names it: the id decides, the name is for people."""
        return f"{self.name}@{self.id}"

    @property
    def members(self) -> frozenset[tuple[str, str]]:
        """Name and hash of every relation."""
        return frozenset((item.name, item.hash) for item in self.items)


def own_items(provenance: Provenance) -> tuple[ScoredItem, ...]:
    """The uploaded relations of a result."""
    return tuple(item for item in provenance.items if item.category == OWN)


def set_id(relations: Iterable[tuple[str, str]]) -> str:
    """The id of the set of some relations, each by name and hash."""
    return hashlib.sha256(json.dumps(sorted(relations)).encode()).hexdigest()[:8]


def default_name(titles: Sequence[str]) -> str:
    """The default name of a set."""
    name = titles[0] if len(titles) == 1 else f"{titles[0]} and {len(titles) - 1} more"
    plain = re.sub(r"[@,\x00-\x1f\x7f]", " ", name).strip()[:LONGEST_NAME].strip()
    return plain or "own relations"


def checked_name(name: str) -> str:
    """A name that a set may have."""
    text = name.strip()
    if not text.isprintable() or not _NAME.fullmatch(text):
        hint = f"Give 1 to {LONGEST_NAME} characters without @ and commas."
        raise SettingError(f"{name[:40]!r} is not a valid name for a set of relations", hint)
    return text


def sets_of(results: Iterable[Scores], store: Store) -> list[OwnSet]:
    """The sets that some results were computed with, the oldest first."""
    sets: dict[str, OwnSet] = {}
    for scores in sorted(results, key=lambda result: result.provenance.date):
        facts = scores.provenance
        items = own_items(facts)
        if items:
            key = set_id((item.name, item.hash) for item in items)
            previous = sets.get(key, OwnSet(key, _first_name(facts), items, (), facts.date))
            models = tuple(dict.fromkeys((*previous.models, facts.model.id)))
            sets[key] = replace(previous, models=models)
    return [_as_changed(one, store) for one in sets.values()]


def _first_name(provenance: Provenance) -> str:
    """What the set of a result was called when it was computed."""
    return str(provenance.settings.get(SETTING) or default_name([item.title for item in own_items(provenance)]))


def is_mixed(provenance: Provenance) -> bool:
    """Whether a result was computed with uploaded relations, even if it no longer has them."""
    return SETTING in provenance.settings or bool(own_items(provenance))


def _as_changed(one: OwnSet, store: Store) -> OwnSet:
    """The set under the name that it was given since."""
    content = store.get(f"set/{one.id}")
    try:
        values = json.loads(content) if content else {}
        return replace(one, name=str(values.get("name") or one.name), hidden=bool(values.get("hidden")))
    except (ValueError, AttributeError):
        return one


def change_set(store: Store, one: OwnSet, name: str | None = None, hidden: bool | None = None) -> OwnSet:
    """Rename a set, hide it, or show it again."""
    changed = replace(
        one,
        name=one.name if name is None else checked_name(name),
        hidden=one.hidden if hidden is None else hidden,
    )
    store.put(f"set/{one.id}", json.dumps({"name": changed.name, "hidden": changed.hidden}).encode())
    return changed


def found_set(sets: Sequence[OwnSet], text: str) -> OwnSet | None:
    """The set that an address, a request or a command names: by its id, else by its name if only one is called so."""
    name, at, key = text.rpartition("@")
    wanted = key if at else text
    for one in sets:
        if _ID.fullmatch(wanted) and one.id == wanted:
            return one
    called = [one for one in sets if one.name == (name if at else text)]
    return called[0] if len(called) == 1 and not at else None


def offered_sets(sets: Sequence[OwnSet], address: str) -> list[OwnSet]:
    """The sets that a picker offers: all but hidden ones and those that are of no use; the chosen one in any case."""
    offered = []
    for one in sets:
        is_useful = any(item.applicable for item in one.items)
        if (is_useful and not one.hidden) or one.address == address:
            offered.append(one)
    return offered


def the_set(sets: Sequence[OwnSet], text: str) -> OwnSet:
    """The same; refuses an unknown set."""
    one = found_set(sets, text)
    if one is None:
        there = ", ".join(each.address for each in sets) or "none"
        raise RelationError(f"there is no set of relations {text[:80]!r} here", f"Available sets: {there}.")
    return one


def with_set(scores: Scores, members: frozenset[tuple[str, str]]) -> Scores | None:
    """A result without the relations of other sets; nothing when none is left."""
    kept = []
    for item in scores.provenance.items:
        if item.category != OWN or (item.name, item.hash) in members:
            kept.append(item.name)
    if len(kept) == len(scores.provenance.items):
        return scores
    return _cut(scores, kept) if kept else None


def without_set(scores: Scores, members: frozenset[tuple[str, str]]) -> Scores | None:
    """A result without the relations of a set; nothing when none is left."""
    kept = [item.name for item in scores.provenance.items if (item.name, item.hash) not in members]
    return _cut(scores, kept) if kept else None


def _cut(scores: Scores, kept: Sequence[str]) -> Scores:
    """A result with some of its relations; that there were others is still said."""
    facts = scores.provenance
    marked = replace(facts, settings={**facts.settings, SETTING: _first_name(facts)})
    return only(replace(scores, provenance=marked), kept)


def pairs_of(scores: Scores, item: ScoredItem) -> tuple[WordPair, ...]:
    """The pairs of an uploaded relation as a result keeps them; none in results of older versions."""
    if scores.item(item.name).hash != item.hash:
        return ()
    record = scores.records.get(item.name)
    rows = record.get(PAIRS, ()) if isinstance(record, dict) else ()
    return tuple((str(source), str(target)) for source, target in rows)


def without_pairs(scores: Scores) -> Scores:
    """A result without the pairs of uploaded relations, which can be very many."""
    records = {}
    for name, record in scores.records.items():
        if isinstance(record, dict):
            record = {key: value for key, value in record.items() if key != PAIRS}
        if record != {}:
            records[name] = record
    return replace(scores, records=records)
