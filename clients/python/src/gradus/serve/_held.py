"""What came of answers, told together: until then it is held in memory that the host sees too, and is never lost."""

from __future__ import annotations

import mmap
import time
from collections.abc import Callable

from google.protobuf.message import DecodeError

from gradus.v1 import provider_pb2 as pb

BYTES_MAX = 256 * 1024
# Numbers at the beginning of the memory: the call, where what is held begins, and where it ends.
_CALL, _BEGIN, _END = range(3)
_HEAD_BYTES = 16
# In which what was written before a number is seen by whoever has seen the number, on any processor.
_SEEN_SECONDS = 0.001


class Held:
    """Memory of one worker: made by the host before it forks it, written by the worker, read by the host.

    Within a call nothing is overwritten: what is held stands behind what has been told, so that the host may read
    while the worker writes.
    """

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, BYTES_MAX)
        self._numbers = memoryview(self._memory)[:_HEAD_BYTES].cast("I")
        self._end = _HEAD_BYTES

    def close(self) -> None:
        """Gives the memory back."""
        self._numbers.release()
        self._memory.close()

    def keep(self) -> None:
        """In the worker: processes that it forks have no part in it."""
        self._memory.madvise(mmap.MADV_DONTFORK)

    def open(self, call: int) -> None:
        """Nothing is held as yet, and what comes is of this call."""
        self._end = _HEAD_BYTES
        # Whoever reads meanwhile sees that it is another call's, before anything is overwritten.
        self._numbers[_CALL] = 0
        self._numbers[_BEGIN] = self._numbers[_END] = _HEAD_BYTES
        self._numbers[_CALL] = call

    def add(self, piece: bytes) -> bool:
        """Holds a piece of a VerifyResponses; False: there is no room for it."""
        begin, end = self._end, self._end + len(piece)
        if end > BYTES_MAX:
            return False
        self._memory[begin:end] = piece
        self._numbers[_END] = self._end = end
        return True

    def take(self) -> bytes:
        """The pieces, which have been told from now on."""
        told = self._memory[self._numbers[_BEGIN] : self._end]
        self._numbers[_BEGIN] = self._end
        return told

    def read(self) -> tuple[int, pb.VerifyResponses] | None:
        """In the host: the call, and what of it is held. None: nothing, or it changed while it was read."""
        call, begin, end = self._numbers[_CALL], self._numbers[_BEGIN], self._numbers[_END]
        if call == 0 or not _HEAD_BYTES <= begin < end <= BYTES_MAX:
            return None
        time.sleep(_SEEN_SECONDS)
        data = self._memory[begin:end]
        if (call, begin) != (self._numbers[_CALL], self._numbers[_BEGIN]):
            return None
        try:
            return call, pb.VerifyResponses.FromString(data)
        except DecodeError:
            return None


class Teller:
    """Tells what came of a call's answers, in their order: together, where they come quickly."""

    def __init__(self, send: Callable[[pb.ProviderFrame], None], held: Held, call: int, hold_seconds: float) -> None:
        self._send = send
        self._held = held
        self._call = call
        self._hold_seconds = hold_seconds
        # What is told of each result that is held, by the bytes of the result.
        self._pieces: dict[bytes, bytes] = {}
        self._count = 0
        self._since = time.monotonic()
        held.open(call)

    def tell(self, index: int, found: pb.ProvidedFacts | pb.ProviderFailure) -> bool:
        """What came of one answer: it is held, and told with others when the first of them has been long enough.

        Whether nothing is held now.
        """
        known = found.SerializeToString()
        if isinstance(found, pb.ProviderFailure):
            # Facts may have the same bytes, and never bytes that begin so.
            known = b"failure" + known
        piece = self._pieces.get(known) or self._begin(index, known, found)
        if not self._held.add(piece):
            self.end()
            self._send(pb.ProviderFrame(call=self._call, verified=response(index, found)))
            return True
        self._count += 1
        if time.monotonic() - self._since < self._hold_seconds:
            return False
        self._tell_held()
        return True

    def end(self) -> None:
        """Tells what is held."""
        if self._count > 0:
            self._tell_held()
        self._pieces.clear()

    def _begin(self, index: int, known: bytes, found: pb.ProvidedFacts | pb.ProviderFailure) -> bytes:
        """The piece of a result that is not held as yet."""
        place = pb.VerifyResponses(places=[len(self._pieces)]).SerializeToString()
        first = pb.VerifyResponses(results=[response(index, found)])
        if not self._pieces:
            first.index = index
        self._pieces[known] = place
        return first.SerializeToString() + place

    def _tell_held(self) -> None:
        told = pb.VerifyResponses.FromString(self._held.take())
        self._pieces.clear()
        self._count = 0
        self._since = time.monotonic()
        self._send(pb.ProviderFrame(call=self._call, verified_together=told))


def response(index: int, found: pb.ProvidedFacts | pb.ProviderFailure) -> pb.VerifyResponse:
    """As the contract has it."""
    if isinstance(found, pb.ProviderFailure):
        return pb.VerifyResponse(index=index, failure=found)
    return pb.VerifyResponse(index=index, facts=found)
