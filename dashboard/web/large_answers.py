"""Large answers: a few are made at a time, each once for all requests, cached compressed, and sent piece by piece.

Nothing here takes long on the event loop, and thirty people who want the same file cost as much as one.
"""

import asyncio
import threading
import zlib
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable, Hashable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from analysis.errors import ServerBusy

THREADS = 2
WAITING = 16  # different files that may wait to be made
KEPT, BYTES = 64, 64_000_000  # files that are kept, compressed, and how large they may be together
SENDING = 128_000_000  # bytes of the files, compressed, that are being sent: each is held until its last reader has it
_PIECE = 256 * 1024  # bytes
_LEVEL = 4  # of compression: 9 takes longer than it saves

Release = Callable[[], None]
Made = Callable[[], Iterator[bytes]]  # a file, piece by piece


class LargeAnswers:
    """Files that take a while."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, "large-answers")
        self._lock = threading.Lock()
        self._making: dict[Hashable, Future[bytes]] = {}
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()  # the last used last
        self._readers: Counter[int] = Counter()  # of the files that are being sent, by identity
        self._sending = 0  # bytes of these files

    async def answer(
        self, request: Request, key: Hashable, make: Made, media: str, headers: Mapping[str, str] | None = None
    ) -> Response:
        """The file for this key, made now unless cached; equal keys mean equal content."""
        packed = await self._packed(key, make)
        release = self._held(packed)
        own = {**(headers or {}), "Vary": "Accept-Encoding"}
        if "gzip" in request.headers.get("accept-encoding", ""):
            own |= {"Content-Encoding": "gzip", "Content-Length": str(len(packed))}
            return _Sent(_slices(packed), release, media, own)
        return _Sent(_unpacked(packed), release, media, own)

    def _held(self, packed: bytes) -> Release:
        """Count a reader of a file and return what ends the count; refuse readers beyond the limit."""
        name, length = id(packed), len(packed)
        if name not in self._readers:
            if self._readers and self._sending + length > SENDING:
                raise ServerBusy("many large files are being sent already", "Ask again in a moment.")
            self._sending += length
        self._readers[name] += 1

        def release() -> None:
            self._readers[name] -= 1
            if not self._readers[name]:
                del self._readers[name]
                self._sending -= length

        return release

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


class _Sent(StreamingResponse):
    """A file on its way; says when it is over, whether or not it was read."""

    def __init__(self, content: AsyncIterator[bytes], release: Release, media: str, headers: Mapping[str, str]) -> None:
        super().__init__(content, media_type=media, headers=headers)
        self._release = release

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._release()


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
