"""What people delete: a set of their own relations, the results of a model. Jobs under way are cancelled first."""

from collections.abc import Iterator

from analysis.errors import SettingError, StoreError
from analysis.jobs.job import Job
from analysis.jobs.journal import Journal
from analysis.jobs.request import Request
from analysis.method import digest
from analysis.models.card import ModelCard
from analysis.results.inventory import forget_model
from analysis.results.own_sets import OwnSet, own_items, without_set
from analysis.results.scores import Scores
from analysis.results.store import Store

Members = frozenset[tuple[str, str]]


def delete_model(store: Store, card: ModelCard) -> int:
    """Remove the results of a model and its jobs that are over; says how many entries went."""
    for job in Journal(store).jobs():
        if job.active and card.fingerprint == job.fingerprint:
            raise SettingError(f"{card.id} is being analysed", "Cancel its job first.")
    gone = forget_model(store, card.fingerprint)
    if not gone:
        raise SettingError(f"{card.id} has no stored results to delete", "Its results come with Head Atlas.")
    return gone


def delete_set(store: Store, one: OwnSet) -> int:
    """Remove a set with its scores, pairs and jobs; scores of other relations stay. Says how many results had it."""
    journal = Journal(store)
    mine = [(job, request) for job, request in _requests(journal) if _brought(request) & one.members]
    if any(job.active for job, _ in mine):
        raise SettingError(f"{one.name} is being computed", "Cancel the job first.")
    changed = 0
    for key in list(store.names("result/")):
        changed += _removed_from(store, key, one.members)
    for job, _ in mine:
        journal.remove(job)
    store.delete(f"set/{one.id}")
    return changed


def _removed_from(store: Store, key: str, members: Members) -> bool:
    """Take the relations out of a stored result, with what it was made of; says whether it had them."""
    content = store.get(key)
    try:
        scores = Scores.from_parquet(content) if content is not None else None
    except StoreError:  # of another version
        return False
    if scores is None or not {(item.name, item.hash) for item in own_items(scores.provenance)} & members:
        return False
    rest = without_set(scores, members)
    if rest is not None:  # under another name: the old one stands for all that was asked
        store.put(f"{key.rpartition('/')[0]}/{digest([key, sorted(members)])}", rest.to_parquet())
    store.delete(key)
    prefix = f"unit/{scores.provenance.model.fingerprint}/{scores.provenance.method}/"
    for unit in list(store.names(prefix)):
        store.delete(unit)  # they hold the words as tokens; a finished result needs none of them
    return True


def _requests(journal: Journal) -> Iterator[tuple[Job, Request]]:
    for job in journal.jobs():
        request = journal.request(job.id)
        if request is not None:
            yield job, request


def _brought(request: Request) -> Members:
    """Name and hash of the relations that came with a request."""
    return frozenset((relation.name, relation.hash) for relation in request.own_relations())
