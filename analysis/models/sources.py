"""Where a model's files come from: the default model, a folder, a GGUF file, the Hugging Face cache or the hub."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from analysis.errors import DamagedFile, MissingTensor, ModelError, ModelGated, ModelNotFound, NoSafetensors
from analysis.models import builtin as default_model
from analysis.models import gguf
from analysis.models.checkpoint import TOKENIZER_FILES, Checkpoint
from analysis.models.gguf_file import GgufFile, begins_like_gguf, part_names
from analysis.progress import Progress, silent

_NAME = r"[A-Za-z0-9][\w.-]{0,95}"
HUB_ID = re.compile(rf"{_NAME}(/{_NAME})?", re.ASCII)
_LISTED = re.compile(rf"{_NAME}(/{_NAME}){{0,2}}", re.ASCII)  # LM Studio has publisher/repository/name.gguf
_GALLERY = Path(__file__).parent.parent / "data" / "gallery"
_SKIPPED = ["consolidated*", "*/*"]  # other copies of the same weights
_FILES = ["config.json", "*.safetensors", "*.safetensors.index.json", *TOKENIZER_FILES]


def open_model(name: str, revision: str | None, cache: Path, progress: Progress = silent) -> Checkpoint:
    """Open a model by its name on the command line.

    A name is the default model's or a fetched model's id, a folder, a GGUF file, or a Hugging Face id.
    """
    path, fetched = Path(name).expanduser(), fetched_file(name, cache)
    is_gguf = _is_gguf(name) or begins_like_gguf(path)
    if revision and (name == default_model.ID or fetched or path.is_dir() or is_gguf):
        raise ModelNotFound(f"{name} has no revisions", "Only models of the Hugging Face hub have them.")
    if name == default_model.ID:
        return _open_default(cache, progress)
    if name and path.is_dir():
        return Checkpoint.open(path, path.resolve().name)
    if is_gguf:
        return open_gguf(path, cache, progress)
    if fetched:
        return open_gguf(fetched, cache, progress, name)
    refuse_unfetched(name)
    if HUB_ID.fullmatch(name) and ".." not in name:
        snapshot = _snapshot(name, revision)
        return Checkpoint.open(snapshot, name, revision=snapshot.name)
    raise ModelNotFound(
        f"there is no folder or model {name[:200]!r}",
        f"Give {default_model.ID}, a folder with config.json and *.safetensors, a .gguf file, "
        "or a Hugging Face id such as org/name.",
    )


def open_listed(name: str, revision: str | None, cache: Path, models: Path | None) -> Checkpoint:
    """Open a model that was asked for over the network: never by a path.

    A name is the default model's or a fetched model's id, a folder or GGUF file inside the models directory, or a
    Hugging Face id.
    """
    folder, file, fetched = listed_folder(name, models), listed_file(name, models), fetched_file(name, cache)
    if folder is not None and not revision:
        return Checkpoint.open(folder, name)
    if file is not None and not revision:
        return open_gguf(file, cache, silent, str(Path(name).with_name(part_names(file.name)[0])))
    if name == default_model.ID and not revision:
        return _open_default(cache, silent)
    if fetched is not None and not revision:
        return open_gguf(fetched, cache, silent, name)
    refuse_link(name, models)
    refuse_unfetched(name)
    if not HUB_ID.fullmatch(name) or ".." in name or name == default_model.ID or _is_gguf(name):
        raise ModelNotFound(f"{name[:200]!r} is not the name of a model", "Give a Hugging Face id such as org/name.")
    snapshot = _snapshot(name, revision)
    return Checkpoint.open(snapshot, name, revision=snapshot.name)


def refuse_link(name: str, models: Path | None) -> None:
    """A name in the models directory that leads out of it is no model, and the answer says why."""
    if models is not None and _LISTED.fullmatch(name) and (models / name).is_symlink():
        raise ModelNotFound(f"{name} is a link out of the models directory", "Copy or move the model itself there.")


def refuse_unfetched(name: str) -> None:
    """A model of the gallery that was not fetched: the hub does not have it under this id."""
    if name in gallery_models():
        raise ModelNotFound(f"the weights of {name} are not here", f"`make gallery MODELS={name}` fetches them.")


def gallery_models() -> list[str]:
    """The ids of all models of the gallery, by the lists of their packages."""
    return sorted(path.stem for path in _GALLERY.glob("*.txt"))


def open_gguf(path: Path, cache: Path, progress: Progress = silent, model_id: str = "") -> Checkpoint:
    """A GGUF file, converted once; its id is the name of the file unless another is given."""
    file = GgufFile.open(path)
    opened = partial(Checkpoint.open, model_id=model_id or file.name, note=gguf.note(file))
    try:
        return opened(gguf.folder(file, cache, progress))
    except (DamagedFile, NoSafetensors, MissingTensor):  # of the conversion: it is made again
        gguf.forget(file, cache)
        return opened(gguf.folder(file, cache, progress))


def fetched_file(name: str, cache: Path) -> Path | None:
    """The file of a model of the gallery (`analysis.gallery`), if it was fetched."""
    if not HUB_ID.fullmatch(name) or "/" in name:
        return None
    path = cache / "gallery" / f"{name}.gguf"
    return path if path.is_file() else None


def fetched_models(cache: Path) -> list[str]:
    """The ids of the models of the gallery that were fetched."""
    return sorted(path.stem for path in (cache / "gallery").glob("*.gguf"))


def _is_gguf(name: str) -> bool:
    return name.lower().endswith(".gguf")


def listed_folder(name: str, models: Path | None) -> Path | None:
    """The folder of that name inside the models directory, unless it or one of its files is a link out of it."""
    if models is None or not HUB_ID.fullmatch(name) or ".." in name:
        return None
    try:
        root, folder = models.resolve(), (models / name).resolve()
        if not folder.is_relative_to(root) or folder == root or not folder.is_dir():
            return None
        for file in folder.iterdir():
            if not file.resolve().is_relative_to(root):
                return None
    except (OSError, RuntimeError):  # no permission, or links that go round in a circle
        return None
    return folder


def listed_file(name: str, models: Path | None) -> Path | None:
    """The GGUF file of that name inside the models directory, unless it or another part of it is a link out of it."""
    if models is None or not _LISTED.fullmatch(name) or ".." in name or not _may_be_gguf(name):
        return None
    try:
        root, file = models.resolve(), models.resolve() / name
        if not file.is_file():
            return None
        for part in part_names(file.name):
            if not file.with_name(part).resolve().is_relative_to(root):
                return None
    except (OSError, RuntimeError):
        return None
    return file if _is_gguf(name) or begins_like_gguf(file) else None


def _may_be_gguf(name: str) -> bool:
    """By its ending, or because it has none: Ollama names files by their hash alone."""
    return _is_gguf(name) or "." not in Path(name).name


def listed_models(models: Path | None) -> list[str]:
    """The checkpoints in the models directory, also one folder down (org/name), and GGUF files, also two down."""
    if models is None or not models.is_dir():
        return []
    names = set()
    for path in _three_levels(models):
        name = str(path.relative_to(models))
        if listed_file(name, models) is not None:
            if part_names(path.name)[0] == path.name:
                names.add(name)
        elif listed_folder(name, models) is not None and _has_config(path):
            names.add(name)
    return sorted(names)


def _three_levels(folder: Path) -> Iterator[Path]:
    """What is in a folder, its folders and theirs; one that cannot be looked into hides nothing else."""
    for path in _inside(folder):
        yield path
        for below in _inside(path):
            yield below
            yield from _inside(below)


def _inside(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir()) if folder.is_dir() else []
    except (OSError, RuntimeError):
        return []


def _has_config(folder: Path) -> bool:
    try:
        return (folder / "config.json").exists()
    except OSError:
        return False


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
            f"Check the name and the network; {default_model.ID} needs none, and make gallery fetches two more.",
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
