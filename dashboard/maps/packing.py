"""Arrays and facts in one binary answer, which the page's scripts read (assets/atlas/maps/unpacking.mjs).

4 bytes  the length of the header
header   JSON: the facts, and under "arrays" of each array its type, place and length; padded to 8 bytes
arrays   little-endian numbers, each padded to 8 bytes
"""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Arrays = Mapping[str, npt.NDArray[Any]]

_TYPES = {"uint8": "u1", "uint16": "u2", "int16": "i2", "float64": "f8"}


def pack(facts: Mapping[str, Any], arrays: Arrays) -> bytes:
    """Facts and arrays as bytes."""
    places, pieces, offset = {}, [], 0
    for name, array in arrays.items():
        content = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
        places[name] = {"type": _TYPES[array.dtype.name], "offset": offset, "length": array.size}
        pieces.append(_padded(content))
        offset += len(pieces[-1])
    header = json.dumps({**facts, "arrays": places}, ensure_ascii=False, separators=(",", ":")).encode()
    header += b" " * (-(len(header) + 4) % 8)
    return len(header).to_bytes(4, "little") + header + b"".join(pieces)


def _padded(content: bytes) -> bytes:
    return content + b"\0" * (-len(content) % 8)


def fewest_bytes(codes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Codes in one byte each, or in two where there are more than 256."""
    return codes.astype(np.uint8 if codes.max(initial=0) < 256 else np.uint16)
