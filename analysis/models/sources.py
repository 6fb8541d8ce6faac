"""Where a model's files come from: the default model, a folder, the local Hugging Face cache or the hub."""

import re
from pathlib import Path

from analysis.errors import DamagedFile, MissingTensor, ModelError, ModelGated, ModelNotFound, NoSafetensors
from analysis.models import builtin as default_model
from analysis.models.checkpoint import TOKENIZER_FILES, Checkpoint
from analysis.progress import Progress, silent

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?", re.ASCII)
_SKIPPED = ["consolidated*", "*/*"]  # other copies of the same weights
_FILES = ["config.json", "*.safetensors", "*.safetensors.index.json", *TOKENIZER_FILES]


def open_model(name: str, revision: str | None, cache: Path, progress: Progress = silent) -> Checkpoint:
    """Open a model by its name on the command line: the default model's id, a folder, or a Hugging Face id."""
    folder = Path(name).expanduser()
    if revision and (name == default_model.ID or folder.is_dir()):
        raise ModelNotFound(f"{name} has no revisions", "Only models of the Hugging Face hub have them.")
    if name == default_model.ID:
        return _open_default(cache, progress)
    if name and folder.is_dir():
        return Checkpoint.open(folder, folder.resolve().name)
    if _HUB_ID.fullmatch(name) and ".." not in name:
        snapshot = _snapshot(name, revision)
        return Checkpoint.open(snapshot, name, revision=snapshot.name)
    raise ModelNotFound(
        f"there is no folder or model {name[:200]!r}",
        f"Give {default_model.ID}, a folder with config.json and *.safetensors, or a Hugging Face id such as org/name.",
    )


def open_listed(name: str, revision: str | None, cache: Path, models: Path | None) -> Checkpoint:
    """Open a model that was asked for over the network: never by a path.

    A name is the default model's id, a folder inside the models directory, or a Hugging Face id.
    """
    folder = listed_folder(name, models)
    if folder is not None and not revision:
        return Checkpoint.open(folder, name)
    if name == default_model.ID and not revision:
        return _open_default(cache, silent)
    if not _HUB_ID.fullmatch(name) or ".." in name or name == default_model.ID:
        raise ModelNotFound(f"{name[:200]!r} is not the name of a model", "Give a Hugging Face id such as org/name.")
    snapshot = _snapshot(name, revision)
    return Checkpoint.open(snapshot, name, revision=snapshot.name)


def listed_folder(name: str, models: Path | None) -> Path | None:
    """The folder of that name inside the models directory, unless it or one of its files is a link out of it."""
    if models is None or not _HUB_ID.fullmatch(name) or ".." in name:
        return None
    root, folder = models.resolve(), (models / name).resolve()
    if not folder.is_relative_to(root) or folder == root or not folder.is_dir():
        return None
    for file in folder.iterdir():
        if not file.resolve().is_relative_to(root):
            return None
    return folder


def listed_models(models: Path | None) -> list[str]:
    """The checkpoints in the models directory, also one folder down (org/name)."""
    if models is None or not models.is_dir():
        return []
    configs = [*models.glob("*/config.json"), *models.glob("*/*/config.json")]
    names = sorted({str(config.parent.relative_to(models)) for config in configs})
    return [name for name in names if listed_folder(name, models) is not None]


def _open_default(cache: Path, progress: Progress) -> Checkpoint:
    """The default model; a damaged conversion is made again."""
    try:
        return Checkpoint.open(default_model.folder(cache, progress), default_model.ID, note=default_model.NOTE)
    except (DamagedFile, NoSafetensors, MissingTensor):
        default_model.forget(cache)
        return Checkpoint.open(default_model.folder(cache, progress), default_model.ID, note=default_model.NOTE)


def _snapshot(name: str, revision: str | None) -> Path:
    """The folder with a snapshot of a hub model, downloaded unless it is in the local cache."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        HFValidationError,
        LocalEntryNotFoundError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    at = f"{name} at revision {revision}" if revision else name
    try:
        return Path(snapshot_download(name, revision=revision, allow_patterns=_FILES, ignore_patterns=_SKIPPED))
    except GatedRepoError as error:
        raise ModelGated(f"{name} is gated on the hub", "Accept its licence there and set HF_TOKEN.") from error
    except RevisionNotFoundError as error:
        raise ModelNotFound(f"{name} has no revision {revision!r}", "Check the branch, tag or commit.") from error
    except (RepositoryNotFoundError, HFValidationError) as error:
        raise ModelNotFound(
            f"the hub has no model {name!r}", "Check the spelling; private models need HF_TOKEN."
        ) from error
    except (LocalEntryNotFoundError, OfflineModeIsEnabled) as error:
        raise ModelNotFound(
            f"{at} is neither a folder here nor in the local cache, and the hub cannot be reached",
            f"Check the name and the network; the default model is {default_model.ID}.",
        ) from error
    except (HfHubHTTPError, OSError) as error:
        raise ModelError(f"{at} could not be downloaded: {type(error).__name__}", "Try again later.") from error


def cached_models() -> list[str]:
    """Hugging Face ids whose weights are in the local cache."""
    from huggingface_hub import constants

    names = []
    for folder in sorted(Path(constants.HF_HUB_CACHE).glob("models--*")):
        if any(folder.glob("snapshots/*/*.safetensors")):
            names.append(folder.name.removeprefix("models--").replace("--", "/"))
    return names
