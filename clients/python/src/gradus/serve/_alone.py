"""An answer that is run as code, verified in a process of its own: what it changes there the next answer never sees.

Such a process makes fewer calls of the kernel than the worker that forks it, which only waits for it.
"""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager

from gradus.serve._frames import write_all
from gradus.serve._held import response
from gradus.serve.walls import OPEN_FILES_MAX, Walls
from gradus.v1 import provider_pb2 as pb

REPLY_BYTES_MAX = 1024**2
_fork = os.fork
# Of a process whose memory is at its end outside of what an environment does.
MEMORY_STATUS = 71


def verify(
    find: Callable[[str], pb.ProvidedFacts | pb.ProviderFailure],
    answer: pb.ProvidedAnswer,
    walls: Walls,
    limit: AbstractContextManager[None],
) -> pb.VerifyResponse:
    """What `find` gives, elsewhere; or how that process ended before it had said anything."""
    receiving, sending = os.pipe2(os.O_CLOEXEC)
    child = _fork()
    if child == 0:
        _find_and_end(find, answer, walls, limit, sending)
    os.close(sending)
    data = _read(receiving)
    os.close(receiving)
    status = os.waitstatus_to_exitcode(os.wait4(child, 0)[1])
    if status == 0:
        try:
            told = pb.VerifyResponse.FromString(data)
            if told.index == answer.index and told.WhichOneof("result") is not None:
                return told
        except Exception:  # What protobuf's implementations raise differs.
            pass
    return response(answer.index, failure_of_end(status))


def keep_forks() -> None:
    """From here on only `verify` forks here: an environment's code is told what the kernel tells elsewhere."""

    def refuse() -> int:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    os.fork = refuse


def failure_of_end(status: int) -> pb.ProviderFailure:
    """What the end of a process says of it, where it is -signal or its exit status."""
    kind, detail = kind_of_end(status)
    return pb.ProviderFailure(kind=kind, detail=detail)


def kind_of_end(status: int) -> tuple[pb.ProviderFailureKind.ValueType, str]:
    """What kind of failure it is, and in words."""
    if status in (-signal.SIGPROF, -signal.SIGXCPU):
        return pb.PROVIDER_FAILURE_KIND_TIMEOUT, "it took more than its processor time"
    if status == MEMORY_STATUS:
        return pb.PROVIDER_FAILURE_KIND_MEMORY, "it took more than its memory"
    return pb.PROVIDER_FAILURE_KIND_CRASHED, words_of_end(status)


def words_of_end(status: int) -> str:
    """E.g. "signal SIGSEGV"."""
    if status >= 0:
        return f"it ended its process, with status {status}"
    try:
        return f"signal {signal.Signals(-status).name}"
    except ValueError:
        return f"signal {-status}"


def _find_and_end(
    find: Callable[[str], pb.ProvidedFacts | pb.ProviderFailure],
    answer: pb.ProvidedAnswer,
    walls: Walls,
    limit: AbstractContextManager[None],
    sending: int,
) -> None:
    status = 1
    try:
        # The worker's connection above all, by which answers of others are told.
        os.closerange(3, sending)
        os.closerange(sending + 1, OPEN_FILES_MAX)
        walls.lock_alone()
        with limit:
            found = response(answer.index, find(answer.text))
        write_all(sending, found.SerializeToString())
        status = 0
    finally:
        os._exit(status)


def _read(descriptor: int) -> bytes:
    data = b""
    while len(data) <= REPLY_BYTES_MAX and (part := os.read(descriptor, 65536)):
        data += part
    return data
