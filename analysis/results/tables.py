"""Tables as text, in pieces: a large one neither fills the memory twice nor keeps other threads waiting."""

import csv
from collections.abc import Iterator
from typing import Literal

import pandas as pd

ROWS = 2_000  # of a piece: some milliseconds
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # with which a spreadsheet takes a text for a formula


def csv_pieces(frame: pd.DataFrame) -> Iterator[bytes]:
    """A table as CSV. A text that a spreadsheet would run as a formula gets an apostrophe before it."""
    for start in range(0, max(1, len(frame)), ROWS):
        piece = _without_formulas(frame.iloc[start : start + ROWS])
        # A carriage return ends a line for many readers, but Python before 3.13 quotes only what ends one of its own.
        quoting: Literal[0, 2] = csv.QUOTE_NONNUMERIC if _has_returns(piece) else csv.QUOTE_MINIMAL
        yield piece.to_csv(index=False, header=start == 0, quoting=quoting).encode()


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


def _has_returns(frame: pd.DataFrame) -> bool:
    texts = [frame[name] for name in frame.columns if not pd.api.types.is_numeric_dtype(frame[name])]
    return any(isinstance(value, str) and "\r" in value for column in texts for value in column.unique())


def _is_formula(value: object) -> bool:
    return isinstance(value, str) and value.startswith(_FORMULA)
