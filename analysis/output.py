"""Files that a command writes: their paths checked before anything is computed, each whole or not at all."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from analysis.errors import StoreError


def checked_path(text: str, endings: tuple[str, ...]) -> Path:
    """The path of a file that can be written, for argparse."""
    path = Path(text)
    if not path.name.lower().endswith(endings):
        raise argparse.ArgumentTypeError(f"the file must end in {' or '.join(endings)}")
    if not path.absolute().parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {path.parent}")
    return path


def write_files(files: Mapping[Path, bytes]) -> None:
    """Each whole or not at all."""
    for target, content in files.items():
        part = target.with_name(f".{target.name}.part")
        try:
            part.write_bytes(content)
            part.replace(target)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise StoreError(
                f"{target} cannot be written: {error.strerror}", "Check free space and permissions."
            ) from error
