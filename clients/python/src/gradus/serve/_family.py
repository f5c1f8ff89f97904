"""The first process of a host, which runs no mounted code, and its services for the host's other processes.

Only this process knows the secret by which the server accepts a connection as a worker's. It opens the connection of
each worker and passes it on, so neither mounted code nor an answer can connect by itself. It also ends workers, because
the host's other processes can send no signals. All processes of a host are in its process group, which none can leave
and which ends as a whole.
"""

from __future__ import annotations

import array
import contextlib
import os
import select
import signal
import socket
import struct
import sys
from collections.abc import Callable, Collection
from typing import NoReturn

from gradus.serve._frames import FrameError, read_frame, to_bytes, write_all
from gradus.serve.walls import Namespaces, kernel
from gradus.v1 import provider_pb2 as pb

REQUEST = struct.Struct("=cI")
CONNECT, ENTER, LEAVE, END = b"c", b"e", b"l", b"k"
PASSED, FAILED = b"+", b"-"
CREDENTIALS = struct.Struct("=iII")
DESCRIPTOR_BYTES = array.array("i").itemsize
CONNECT_SECONDS = 10


class Family:
    """Calls by which a host's other processes ask its first process for connections, and to end processes."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control

    def connect(self, number: int) -> socket.socket:
        """Returns a connection to the server for the worker with that number. Raises OSError if there is none."""
        self._control.send(REQUEST.pack(CONNECT, number))
        said, ancillary, _, _ = self._control.recvmsg(1, socket.CMSG_LEN(DESCRIPTOR_BYTES))
        if said != PASSED or not ancillary:
            raise ConnectionError("the server takes no connection for a worker")
        (descriptor,) = array.array("i", ancillary[0][2][:DESCRIPTOR_BYTES])
        return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=descriptor)

    def enter(self, number: int) -> None:
        """Registers a forked process, so that the first process can end it by this number."""
        self._control.send(REQUEST.pack(ENTER, number))
        self._control.close()

    def leave(self, number: int) -> None:
        """Tells the first process that the process with this number has ended."""
        self._control.send(REQUEST.pack(LEAVE, number))

    def end(self, number: int) -> None:
        """Asks the first process to end the process with this number at once."""
        self._control.send(REQUEST.pack(END, number))


Host = Callable[[int, int, Family, Namespaces, Collection[str]], None]


def run(host: Host, without: Collection[str]) -> NoReturn:
    """Forks the process that runs `host`, and serves its requests until the server closes our standard input."""
    namespaces = Namespaces(without)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    receiving, forwarding = os.pipe()
    frames = os.dup(1)
    # Send printed text to stderr, because stdout carries the frames (messages to the server).
    os.dup2(2, 1)
    pid = os.fork()
    if pid == 0:
        ours.close()
        os.close(forwarding)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        child = _fork_under_reaper()
        if child == 0:
            _run_and_end(lambda: host(receiving, frames, Family(theirs), namespaces, without))
        for descriptor in (receiving, frames, theirs.detach()):
            os.close(descriptor)
        _reap(child)
    theirs.close()
    for descriptor in (receiving, frames):
        os.close(descriptor)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    _First(pid, ours, forwarding).serve()


def _fork_under_reaper() -> int:
    """Becomes the parent of all orphaned descendants (a "subreaper"), and forks.

    So no descendant can escape from the host by a double fork.
    """
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGTERM)
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    return os.fork()


def _run_and_end(work: Callable[[], None]) -> NoReturn:
    status = 1
    try:
        work()
        status = 0
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(status)


def _reap(child: int) -> NoReturn:
    """Waits for ended processes. When this child or the host's first process ends, ends all processes of the host."""
    signal.signal(signal.SIGTERM, lambda *_: end_all())
    while True:
        pid, status = os.wait()
        if pid == child:
            ended = os.waitstatus_to_exitcode(status)
            if ended < 0:
                print(f"gradus: the host's process ended: signal {-ended}", file=sys.stderr, flush=True)
            end_all()


class _First:
    def __init__(self, pid: int, control: socket.socket, forwarding: int) -> None:
        self._pid = pid
        self._control = control
        self._forwarding = forwarding
        self._start = pb.HostStart()
        # Process ids, in this process's namespace, of registered processes by the number under which they registered.
        self._entered: dict[int, int] = {}
        # Numbers of processes that are to be ended, but have not registered yet.
        self._doomed: set[int] = set()

    def serve(self) -> NoReturn:
        # The poll reports the end of the process that runs the mounted code.
        process = os.pidfd_open(self._pid)
        poll = select.poll()
        for descriptor in (0, self._control.fileno(), process):
            poll.register(descriptor, select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in poll.poll()}
            if 0 in ready:
                self._heed_server()
            if process in ready:
                end_all()
            if self._control.fileno() in ready and not self._heed_family():
                poll.unregister(self._control.fileno())

    def _heed_server(self) -> None:
        try:
            frame = read_frame(lambda length: os.read(0, length))
        except FrameError:
            frame = None
        if frame is None:
            self._clear()
            end_all()
        kind = frame.WhichOneof("content")
        if kind == "kill":
            self._end(frame.kill.worker)
        elif kind == "start":
            self._start.CopyFrom(frame.start)
            frame.start.ClearField("socket")
            frame.start.ClearField("secret")
            write_all(self._forwarding, to_bytes(frame))
            os.set_blocking(self._forwarding, False)
        else:
            # If the pipe is full, the frame is dropped, because enough requests for held results (TellHeld) then wait
            # in the pipe. A frame is written whole or not at all.
            with contextlib.suppress(BlockingIOError):
                os.write(self._forwarding, to_bytes(frame))

    def _clear(self) -> None:
        """Removes the server's socket and its folder, which a server that was killed could not remove."""
        with contextlib.suppress(OSError):
            os.unlink(self._start.socket)
            os.rmdir(os.path.dirname(self._start.socket))

    def _heed_family(self) -> bool:
        """Serves a request of the host's other processes. Returns False if no other process is left."""
        said, ancillary, _, _ = self._control.recvmsg(REQUEST.size, socket.CMSG_SPACE(CREDENTIALS.size))
        if len(said) != REQUEST.size:
            return said != b""
        kind, number = REQUEST.unpack(said)
        if kind == CONNECT:
            self._connect(number)
        elif kind == ENTER and ancillary:
            self._entered[number] = CREDENTIALS.unpack(ancillary[0][2][: CREDENTIALS.size])[0]
            if number in self._doomed:
                self._end(number)
        elif kind == LEAVE:
            self._entered.pop(number, None)
            self._doomed.discard(number)
        elif kind == END:
            self._end(number)
        return True

    def _connect(self, number: int) -> None:
        hello = pb.ProviderFrame(hello=pb.WorkerHello(secret=self._start.secret, worker=number))
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            try:
                connection.settimeout(CONNECT_SECONDS)
                connection.connect(self._start.socket)
                connection.sendall(to_bytes(hello))
                connection.setblocking(True)
            except OSError:
                self._control.send(FAILED)
                return
            rights = array.array("i", [connection.fileno()])
            self._control.sendmsg([PASSED], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])

    def _end(self, number: int) -> None:
        pid = self._entered.get(number)
        if pid is None:
            self._doomed.add(number)
            return
        with contextlib.suppress(ProcessLookupError):
            # The id may now belong to another process, which is no part of this host.
            if os.getpgid(pid) == os.getpgrp():
                os.kill(pid, signal.SIGKILL)


def end_all() -> NoReturn:
    """Kills all processes of this host at once, this one included. A process that is just forking cannot escape."""
    os.killpg(0, signal.SIGKILL)
    os._exit(1)
