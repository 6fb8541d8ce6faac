"""Which models the store has something of, and how to forget them."""

import json
from collections.abc import Sequence

from analysis.models.card import ModelCard
from analysis.results.store import Store

FINISHED = ("done", "failed", "cancelled")  # states of jobs that nobody works on


def add_model(store: Store, card: ModelCard) -> None:
    """List a model among those that the store has results of."""
    store.put(f"model/{card.fingerprint}/{card.id}", json.dumps(card.to_dict()).encode())


def stored_models(store: Store) -> list[ModelCard]:
    """The models that the store has results of; what another program left there is passed over."""
    cards = []
    for key in store.names("model/"):
        content = store.get(key)
        try:
            if content is not None:
                cards.append(ModelCard.from_dict(json.loads(content)))
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
    return sorted(cards, key=lambda card: card.id)


def forget_model(store: Store, fingerprint: str) -> int:
    """Remove everything of a model, with the jobs on it that are over; says how many entries went."""
    keys = [key for key in store.names() if fingerprint in key.split("/")]
    for job_id, model in _finished_jobs(store).items():
        if model == fingerprint:
            keys += job_keys(store, job_id)
    return _delete(store, keys)


def forget_stray_jobs(store: Store) -> int:
    """Remove the jobs that are over and of whose model nothing else is left; says how many entries went."""
    models = {key.split("/")[1] for key in store.names() if key.startswith(("model/", "result/"))}
    keys = []
    for job_id, model in _finished_jobs(store).items():
        if model not in models:
            keys += job_keys(store, job_id)
    removed = _delete(store, keys)
    left = {key.removeprefix("job/") for key in store.names("job/")}
    strays = [key for key in store.names("card/") if key.split("/")[-1] not in left]
    return removed + _delete(store, strays)


def job_keys(store: Store, job_id: str) -> list[str]:
    """The entries of a job: its progress, its request and what was ordered while it ran."""
    return [key for key in (f"job/{job_id}", f"request/{job_id}", f"order/{job_id}") if store.contains(key)]


def _finished_jobs(store: Store) -> dict[str, str]:
    """The jobs that are over, and their models' fingerprints: empty for one that was never opened."""
    jobs = {}
    for key in store.names("job/"):
        try:
            values = json.loads(store.get(key) or b"{}")
            if values.get("state") in FINISHED:
                jobs[key.removeprefix("job/")] = values.get("fingerprint", "")
        except (ValueError, AttributeError):  # somebody else's
            continue
    return jobs


def _delete(store: Store, keys: Sequence[str]) -> int:
    for key in keys:
        store.delete(key)
    return len(keys)
