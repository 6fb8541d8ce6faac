"""Where a model's files come from: the built-in model, a folder, the local Hugging Face cache or the hub."""

import re
from pathlib import Path

from analysis import default_model
from analysis.checkpoint import TOKENIZER_FILES, Checkpoint
from analysis.errors import ModelError, ModelGated, ModelNotFound

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?", re.ASCII)
_FILES = ["config.json", "*.safetensors", "*.safetensors.index.json", *TOKENIZER_FILES]


def open_model(name: str, revision: str | None, cache: Path) -> Checkpoint:
    """Open a model by what a person types: the default model's id, a folder, or a Hugging Face id."""
    if name == default_model.ID:
        return Checkpoint.open(default_model.folder(cache), name, note=default_model.NOTE)
    folder = Path(name).expanduser()
    if folder.is_dir():
        return Checkpoint.open(folder, folder.resolve().name)
    if _HUB_ID.fullmatch(name) and ".." not in name:
        snapshot = _snapshot(name, revision)
        return Checkpoint.open(snapshot, name, revision=snapshot.name)
    raise ModelNotFound(
        f"there is no folder or model {name[:200]!r}",
        f"Give {default_model.ID}, a folder with config.json and *.safetensors, or a Hugging Face id such as org/name.",
    )


def _snapshot(name: str, revision: str | None) -> Path:
    """The folder of a hub model's snapshot, downloaded unless it is in the local cache."""
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
        return Path(snapshot_download(name, revision=revision, allow_patterns=_FILES))
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
            f"{at} is not in the local cache and the hub cannot be reached", "Check the name and the network."
        ) from error
    except (HfHubHTTPError, OSError) as error:
        raise ModelError(f"{at} could not be downloaded: {type(error).__name__}", "Try again later.") from error


def cached_models() -> list[str]:
    """Hugging Face ids whose weights are in the local cache."""
    from huggingface_hub import constants

    folders = sorted(Path(constants.HF_HUB_CACHE).glob("models--*"))
    with_weights = (folder for folder in folders if any(folder.glob("snapshots/*/*.safetensors")))
    return [folder.name.removeprefix("models--").replace("--", "/") for folder in with_weights]
