"""What the store knows of models: their list, and forgetting them."""

import json
from collections.abc import Sequence

from analysis.models.card import ModelCard
from analysis.results.store import Store

_OVER = ("done", "failed", "cancelled")  # states of jobs that nobody works on


def remember(store: Store, card: ModelCard) -> None:
    """List the model among those that the store knows."""
    store.put(f"model/{card.fingerprint}/{card.id}", json.dumps(card.to_dict()).encode())


def known_models(store: Store) -> list[ModelCard]:
    """The models that the store has results of."""
    found = (store.get(key) for key in store.names("model/"))
    return sorted((ModelCard.from_dict(json.loads(card)) for card in found if card), key=lambda card: card.id)


def forget(store: Store, fingerprint: str) -> int:
    """Remove everything known of a model, the jobs on it that are over too; says how many entries went."""
    jobs = [key for key, model in _finished_jobs(store).items() if model == fingerprint]
    return _delete(store, [*(key for key in store.names() if fingerprint in key.split("/")), *jobs])


def forget_stray_jobs(store: Store) -> int:
    """Remove the jobs that are over and of whose model nothing else is left; says how many entries went."""
    known = {key.split("/")[1] for key in store.names() if key.startswith(("model/", "result/", "salience/"))}
    jobs = [key for key, model in _finished_jobs(store).items() if model not in known]
    _delete(store, jobs)
    left = {key.removeprefix("job/") for key in store.names("job/")}
    return len(jobs) + _delete(store, [key for key in store.names("card/") if key.split("/")[-1] not in left])


def _finished_jobs(store: Store) -> dict[str, str]:
    """The names of the jobs that are over, and their models' fingerprints: empty for one that was never opened."""
    found = {key: json.loads(store.get(key) or b"{}") for key in store.names("job/")}
    return {key: job.get("fingerprint", "") for key, job in found.items() if job.get("state") in _OVER}


def _delete(store: Store, keys: Sequence[str]) -> int:
    for key in keys:
        store.delete(key)
    return len(keys)
