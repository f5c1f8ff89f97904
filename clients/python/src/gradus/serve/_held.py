"""Sends the results of verified answers in batches. Shared memory holds them until then, so that a crash loses none."""

from __future__ import annotations

import mmap
import time
from collections.abc import Callable

from google.protobuf.message import DecodeError

from gradus.v1 import provider_pb2 as pb

BYTES_MAX = 256 * 1024
# Indices of the numbers at the beginning of the memory: number of the call, and start and end of the held results.
_CALL, _BEGIN, _END = range(3)
_HEAD_BYTES = 16
# Seconds after which a process that sees a written number also sees all that was written before it, on any processor.
_SEEN_SECONDS = 0.001


class Held:
    """Shared memory for results that a worker has not sent yet. The worker writes to it, and the host reads it.

    The host makes the memory before it forks the worker. Within a call nothing is overwritten: held results come after
    sent ones. So the host may read while the worker writes.
    """

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, BYTES_MAX)
        self._numbers = memoryview(self._memory)[:_HEAD_BYTES].cast("I")
        self._end = _HEAD_BYTES

    def close(self) -> None:
        """Frees the memory."""
        self._numbers.release()
        self._memory.close()

    def keep(self) -> None:
        """Makes the kernel leave the memory out of processes that the worker forks."""
        self._memory.madvise(mmap.MADV_DONTFORK)

    def open(self, call: int) -> None:
        """Begins a call of the server, for which no results are held yet."""
        self._end = _HEAD_BYTES
        # The call's number changes first, so that the host, which may be reading, notices before anything is
        # overwritten.
        self._numbers[_CALL] = 0
        self._numbers[_BEGIN] = self._numbers[_END] = _HEAD_BYTES
        self._numbers[_CALL] = call

    def add(self, piece: bytes) -> bool:
        """Stores bytes of the protobuf message VerifyResponses. Returns False if there is no room."""
        begin, end = self._end, self._end + len(piece)
        if end > BYTES_MAX:
            return False
        self._memory[begin:end] = piece
        self._numbers[_END] = self._end = end
        return True

    def take(self) -> bytes:
        """Returns the held results as bytes. They count as sent from now on."""
        told = self._memory[self._numbers[_BEGIN] : self._end]
        self._numbers[_BEGIN] = self._end
        return told

    def read(self) -> tuple[int, pb.VerifyResponses] | None:
        """Returns, in the host, the call and its held results.

        None: there are none, or they changed during the read.
        """
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
    """Sends the results of a call's answers in order, in one message if they follow each other quickly."""

    def __init__(self, send: Callable[[pb.ProviderFrame], None], held: Held, call: int, hold_seconds: float) -> None:
        self._send = send
        self._held = held
        self._call = call
        self._hold_seconds = hold_seconds
        # Bytes that refer to a result of the batch, by the serialized result, so that equal results are held only once.
        self._pieces: dict[bytes, bytes] = {}
        self._count = 0
        self._since = time.monotonic()
        held.open(call)

    def tell(self, index: int, found: pb.ProvidedFacts | pb.ProviderFailure) -> bool:
        """Holds the result of one answer. Sends all held results when the first of them has waited long enough.

        Returns whether nothing is held now.
        """
        known = found.SerializeToString()
        if isinstance(found, pb.ProviderFailure):
            # A failure and facts may have equal bytes. The prefix tells them apart, because no facts begin with it.
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
        """Sends the held results."""
        if self._count > 0:
            self._tell_held()
        self._pieces.clear()

    def _begin(self, index: int, known: bytes, found: pb.ProvidedFacts | pb.ProviderFailure) -> bytes:
        """Returns the bytes that hold a result which the batch does not have yet."""
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
    """Returns the protobuf message VerifyResponse for the result of the answer with this index."""
    if isinstance(found, pb.ProviderFailure):
        return pb.VerifyResponse(index=index, failure=found)
    return pb.VerifyResponse(index=index, facts=found)
