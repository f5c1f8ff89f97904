"""Verifies answers that run as code, each in its own process, so that none can change the next one's result.

The process is forked from a helper that has read no request, and reads its own answer itself. So it has no other answer
in its memory, no connection to the server, and no file descriptor except the one for its own answer.
"""

from __future__ import annotations

import errno
import os
import signal
import socket
import struct
from typing import NoReturn

from gradus.serve._asked import Limit, verifier
from gradus.serve._catalogue import Catalogue
from gradus.serve._frames import read_frame, to_bytes, write_all
from gradus.serve._held import response
from gradus.serve.walls import OPEN_FILES_MAX, Walls
from gradus.v1 import provider_pb2 as pb

REPLY_BYTES_MAX = 1024**2
_fork = os.fork
# Exit status of a process that ran out of memory outside of the environment's code.
MEMORY_STATUS = 71
STATUS = struct.Struct("=i")
# File descriptor of the socket from which the process that verifies one answer reads its request.
ANSWER = 3


class Alone:
    """Starts, in a worker, a helper process that forks one process for each answer to verify."""

    def __init__(self, catalogue: Catalogue, walls: Walls, verify_ms: int, connection: socket.socket) -> None:
        self._link, theirs = socket.socketpair()
        worker = os.getpid()
        if _fork() == 0:
            connection.close()
            self._link.close()
            _fork_for_each(catalogue, walls, verify_ms, theirs, worker)
        theirs.close()

    def verify(self, request: pb.VerifyRequest, answer: pb.ProvidedAnswer) -> pb.VerifyResponse:
        """Returns the result of an answer, verified in a process of its own.

        If that process dies, returns a failure.
        """
        asked = pb.VerifyRequest(environment=request.environment, instance=request.instance, answers=[answer])
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                socket.send_fds(self._link, [b"+"], [theirs.fileno()])
            data = _exchange(ours, to_bytes(pb.ProviderFrame(verify=asked)))
        (status,) = STATUS.unpack(self._link.recv(STATUS.size, socket.MSG_WAITALL))
        if status == 0:
            try:
                told = pb.VerifyResponse.FromString(data)
                if told.index == answer.index and told.WhichOneof("result") is not None:
                    return told
            except Exception:  # What protobuf's implementations raise differs.
                pass
        return response(answer.index, failure_of_end(status))


def _exchange(there: socket.socket, data: bytes) -> bytes:
    """Sends data over a socket. Returns the reply, up to the end of the connection or to a maximum size."""
    try:
        there.sendall(data)
    except OSError:
        return b""
    reply = b""
    while len(reply) <= REPLY_BYTES_MAX:
        try:
            part = there.recv(65536)
        except OSError:
            break
        if not part:
            break
        reply += part
    return reply


def _fork_for_each(catalogue: Catalogue, walls: Walls, verify_ms: int, link: socket.socket, worker: int) -> NoReturn:
    """Forks a process for each answer, until the worker ends. Passes each request on to it without reading it."""
    try:
        walls.end_with_parent()
        while os.getppid() == worker:
            _, descriptors, _, _ = socket.recv_fds(link, 1, 1)
            if not descriptors:
                break
            child = _fork()
            if child == 0:
                _find_and_end(catalogue, walls, verify_ms, descriptors[0])
            os.close(descriptors[0])
            status = os.waitstatus_to_exitcode(os.wait4(child, 0)[1])
            link.sendall(STATUS.pack(status))
    finally:
        os._exit(1)


def keep_forks() -> None:
    """Makes `os.fork` raise PermissionError. In workers that run no answers as code, the kernel refuses forks itself.

    `_fork` of this module still forks.
    """

    def refuse() -> int:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    os.fork = refuse


def failure_of_end(status: int) -> pb.ProviderFailure:
    """Returns the failure for the end of a process. `status` is minus the signal, or the exit status."""
    kind, detail = kind_of_end(status)
    return pb.ProviderFailure(kind=kind, detail=detail)


def kind_of_end(status: int) -> tuple[pb.ProviderFailureKind, str]:
    """Returns the kind and the text of the failure for the end of a process with this status."""
    if status in (-signal.SIGPROF, -signal.SIGXCPU):
        return pb.PROVIDER_FAILURE_KIND_TIMEOUT, "it used more processor time than allowed"
    if status == MEMORY_STATUS:
        return pb.PROVIDER_FAILURE_KIND_MEMORY, "it used more memory than allowed"
    return pb.PROVIDER_FAILURE_KIND_CRASHED, words_of_end(status)


def words_of_end(status: int) -> str:
    """Returns the end of a process in words, e.g. "signal SIGSEGV"."""
    if status >= 0:
        return f"it ended its process, with status {status}"
    try:
        return f"signal {signal.Signals(-status).name}"
    except ValueError:
        return f"signal {-status}"


def _find_and_end(catalogue: Catalogue, walls: Walls, verify_ms: int, descriptor: int) -> NoReturn:
    status = 1
    try:
        os.dup2(descriptor, ANSWER)
        os.closerange(ANSWER + 1, OPEN_FILES_MAX)
        walls.lock_alone()
        frame = read_frame(lambda length: os.read(ANSWER, length))
        if frame is not None:
            (answer,) = frame.verify.answers
            served = catalogue.served[frame.verify.environment]
            with Limit(served.environment.verify_seconds, verify_ms):
                found = response(answer.index, verifier(served, frame.verify.instance)(answer.text))
            write_all(ANSWER, found.SerializeToString())
            status = 0
    except MemoryError:
        status = MEMORY_STATUS
    finally:
        os._exit(status)
