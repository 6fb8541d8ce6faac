"""Large answers: a few are made at a time, each once for all who ask, kept compressed, and sent piece by piece.

Nothing here takes long on the event loop, and thirty people who want the same file cost as much as one.
"""

import asyncio
import threading
import zlib
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Hashable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from analysis.errors import ServerBusy

THREADS = 2
WAITING = 16  # different files that may wait to be made
KEPT, BYTES = 64, 64_000_000  # files that are kept, compressed, and how large they may be together
_PIECE = 256 * 1024  # bytes
_LEVEL = 4  # of compression: 9 takes longer than it saves

Made = Callable[[], Iterator[bytes]]  # a file, piece by piece


class LargeAnswers:
    """Files that take a while."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, "large-answers")
        self._lock = threading.Lock()
        self._making: dict[Hashable, Future[bytes]] = {}
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()  # the last used last

    async def answer(
        self, request: Request, key: Hashable, make: Made, media: str, headers: Mapping[str, str] | None = None
    ) -> Response:
        """The file of this key, made now unless it is kept; the key stands for its content."""
        packed = await self._packed(key, make)
        own = {**(headers or {}), "Vary": "Accept-Encoding"}
        if "gzip" in request.headers.get("accept-encoding", ""):
            own |= {"Content-Encoding": "gzip", "Content-Length": str(len(packed))}
            return StreamingResponse(_slices(packed), media_type=media, headers=own)
        return StreamingResponse(_unpacked(packed), media_type=media, headers=own)

    async def _packed(self, key: Hashable, make: Made) -> bytes:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            made = self._making.get(key)
            if made is None:
                if len(self._making) >= WAITING + THREADS:
                    raise ServerBusy("many large files are being prepared already", "Ask again in a moment.")
                made = self._threads.submit(self._make, key, make)
                self._making[key] = made
        return await asyncio.shield(asyncio.wrap_future(made))  # one who leaves does not stop it for others

    def _make(self, key: Hashable, make: Made) -> bytes:
        try:
            packed = _compressed(make())
        finally:
            with self._lock:
                self._making.pop(key, None)
        with self._lock:
            self._kept[key] = packed
            while len(self._kept) > KEPT or sum(len(other) for other in self._kept.values()) > BYTES:
                self._kept.popitem(last=False)
        return packed


def _compressed(pieces: Iterator[bytes]) -> bytes:
    packer = zlib.compressobj(_LEVEL, wbits=31)  # as gzip
    packed = [packer.compress(piece) for piece in pieces]
    return b"".join([*packed, packer.flush()])


async def _slices(content: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(content), _PIECE):
        yield content[start : start + _PIECE]


async def _unpacked(packed: bytes) -> AsyncIterator[bytes]:
    """The content itself, for those who cannot unpack it; each piece in a thread."""
    unpacker = zlib.decompressobj(wbits=31)
    rest = packed
    while True:
        piece = await asyncio.to_thread(unpacker.decompress, rest, _PIECE)
        if not piece:
            return
        yield piece
        rest = unpacker.unconsumed_tail
