"""Where the files of a model are, before anybody opens them: whether there is one, and what opening it takes."""

from dataclasses import dataclass
from pathlib import Path

from analysis.errors import ModelError, ModelGated, ModelNotFound
from analysis.models import builtin, gguf
from analysis.models.sources import (
    HUB_ID,
    cached_models,
    fetched_file,
    listed_file,
    listed_folder,
    refuse_link,
    refuse_unfetched,
)

OPENING = "opening the model"
_SECONDS = 10  # for an answer of the hub


@dataclass(frozen=True)
class ModelLocation:
    """What is known of a model's files."""

    stage: str = OPENING  # what opening it begins with
    folder: Path | None = None  # its checkpoint, if it is here as one


def find_model(name: str, revision: str, cache: Path, models: Path | None) -> ModelLocation:
    """Look for a model that was asked for over the network; refuses one that is nowhere."""
    here = _on_this_machine(name, revision, cache, models)
    if here is not None:
        return here
    refuse_link(name, models)
    refuse_unfetched(name)
    if not HUB_ID.fullmatch(name) or ".." in name or name == builtin.ID or name.lower().endswith(".gguf"):
        raise ModelNotFound(f"there is no model {name[:200]!r}", "Give a listed model or a Hugging Face id.")
    _ask_the_hub(name, revision)
    return ModelLocation("downloading the weights")


def is_unconverted(name: str, revision: str, cache: Path, models: Path | None) -> bool:
    """Whether a model is on this machine as a file that has to be converted before it can be read."""
    here = _on_this_machine(name, revision, cache, models)
    return here is not None and here.folder is None


def _on_this_machine(name: str, revision: str, cache: Path, models: Path | None) -> ModelLocation | None:
    """A folder or GGUF file of the models directory, the default model, one of the gallery, or the hub's cache."""
    if not revision:
        folder = listed_folder(name, models)
        if folder is not None:
            return ModelLocation(folder=folder)
        if name == builtin.ID:
            converted = builtin.target(cache)
            if converted.is_dir():
                return ModelLocation(folder=converted)
            return ModelLocation("converting the weights, once")
        file = listed_file(name, models) or fetched_file(name, cache)
        if file is not None:
            return ModelLocation("reading the GGUF file, which is converted once", gguf.converted_folder(file, cache))
    snapshot = _snapshot(name, revision)
    return ModelLocation(folder=snapshot) if snapshot is not None else None


def _snapshot(name: str, revision: str) -> Path | None:
    """The folder of a hub model whose weights are in the local cache."""
    from huggingface_hub import try_to_load_from_cache

    if not HUB_ID.fullmatch(name) or ".." in name or name not in cached_models():
        return None
    config = try_to_load_from_cache(name, "config.json", revision=revision or None)
    return Path(config).parent if isinstance(config, str) else None


def _ask_the_hub(name: str, revision: str) -> None:
    """Raise when the hub has no such model, or cannot be asked."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        HFValidationError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    at = f"{name} at revision {revision}" if revision else name
    try:
        HfApi().model_info(name, revision=revision or None, timeout=_SECONDS)
    except GatedRepoError as error:
        raise ModelGated(f"{name} is gated on the hub", "Accept its licence there and set HF_TOKEN.") from error
    except RevisionNotFoundError as error:
        raise ModelNotFound(f"{name} has no revision {revision!r}", "Check the branch, tag or commit.") from error
    except (RepositoryNotFoundError, HFValidationError) as error:
        hint = "Check the spelling; private models need HF_TOKEN."
        raise ModelNotFound(f"there is no model {name!r} here or on the hub", hint) from error
    except HfHubHTTPError as error:
        raise ModelError(f"the hub could not be queried for {at}", "Try again later.") from error
    except (OfflineModeIsEnabled, OSError) as error:
        raise _unreachable(at) from error
    except Exception as error:  # the hub's client lets the errors of its own HTTP library through
        if type(error).__module__.partition(".")[0].startswith(("httpx", "requests")):
            raise _unreachable(at) from error
        raise


def _unreachable(name: str) -> ModelNotFound:
    return ModelNotFound(
        f"{name} is not on this machine, and the Hugging Face hub cannot be reached",
        f"Check the name and the network; {builtin.ID} needs none.",
    )
