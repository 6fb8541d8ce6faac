"""Tables as text, in pieces: a large one neither fills the memory twice nor keeps other threads waiting."""

from collections.abc import Iterator

import pandas as pd

ROWS = 2_000  # of a piece: some milliseconds
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # with which a spreadsheet takes a text for a formula


def csv_pieces(frame: pd.DataFrame) -> Iterator[bytes]:
    """A table as CSV. A text that a spreadsheet would run as a formula gets an apostrophe before it."""
    for start in range(0, max(1, len(frame)), ROWS):
        piece = _without_formulas(frame.iloc[start : start + ROWS])
        yield piece.to_csv(index=False, header=start == 0).encode()


def csv_bytes(frame: pd.DataFrame) -> bytes:
    """The same in one."""
    return b"".join(csv_pieces(frame))


def json_pieces(frame: pd.DataFrame) -> Iterator[bytes]:
    """A table as a JSON list of its rows."""
    yield b"["
    for start in range(0, len(frame), ROWS):
        text = frame.iloc[start : start + ROWS].to_json(orient="records")
        yield (b"," if start else b"") + text[1:-1].encode()
    yield b"]"


def _without_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    changed = {}
    for name in frame.columns:
        if not pd.api.types.is_numeric_dtype(frame[name]):
            texts = {text: f"'{text}" for text in frame[name].unique() if _is_formula(text)}
            if texts:
                changed[name] = frame[name].replace(texts)
    return frame.assign(**changed) if changed else frame


def _is_formula(value: object) -> bool:
    return isinstance(value, str) and value.startswith(_FORMULA)
