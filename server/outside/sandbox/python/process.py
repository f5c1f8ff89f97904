"""Runs one forked process of a program: its pipes, its limits on time and output, and its end."""

import contextlib
import mmap
import os
import select
import signal
import struct
from collections.abc import Callable
from types import TracebackType

from child import SCRIPT, Case, MiB, Room
from meter import Meter
from time_limit import JOB_FACTOR, Budget, Watch

# How a test case ended. REPLY: the process itself sent the result. The other four are determined by the parent process.
REPLY, PRINTED, RAISED, EXCEEDED, DIED = 1, 2, 3, 4, 5

LENGTH = struct.Struct(">I")
OUTPUT_BYTES_MAX = MiB
REPLY_BYTES_MAX = 2 * MiB

# Maximum time, in seconds, for a process to end after it closed its pipes.
END_SECONDS_MAX = 0.1


class Outcome:
    """How one test case ended, and whether the process can run the next case."""

    def __init__(self, kind: int, payload: "bytes | memoryview", alive: bool = False) -> None:
        self.kind = kind
        self.payload = payload
        self.alive = alive


class KilledError(OSError):
    """Raised if a process was killed by SIGKILL, and neither its program nor this server did it."""


class Buffer:
    """Memory that receives bytes from a pipe.

    The memory is emptied before the next process starts, so that no data remain.
    """

    def __init__(self, size: int) -> None:
        self._map = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self._view = memoryview(self._map)
        self.length = 0

    def fill(self, descriptor: int) -> int:
        """Reads the bytes that are available. Returns 0 at the end of the pipe."""
        got = os.readv(descriptor, [self._view[self.length :]])
        self.length += got
        return got

    def part(self, start: int, end: int) -> memoryview:
        """Returns some of the bytes without copying them. They are valid until the buffer is emptied."""
        return self._view[start:end]

    def empty(self) -> None:
        """Removes all bytes, and returns the memory to the kernel."""
        self.length = 0
        self._map.madvise(mmap.MADV_DONTNEED)


replies = Buffer(LENGTH.size + REPLY_BYTES_MAX)
# The buffer has room for one byte more than the limit, so that an excess is noticed.
output = Buffer(OUTPUT_BYTES_MAX + 1)


class Process:
    """A forked process that runs the test cases of a program one by one."""

    def __init__(
        self,
        room: Room,
        data: mmap.mmap,
        program: tuple[int, int],
        cases: list[Case],
        budget: Budget,
        heed: Callable[[], None],
    ) -> None:
        self._budget = budget
        self._heed = heed
        self._script = cases[0].kind == SCRIPT
        replies.empty()
        output.empty()
        turns_read, self._turns = os.pipe()
        self._replies, replies_write = os.pipe()
        self._output, output_write = os.pipe() if self._script else (-1, -1)
        self._cpu_seconds = min(len(cases), JOB_FACTOR) * budget.cpu_ms_max // 1000 + 3
        self._pid = os.fork()
        if self._pid == 0:
            streams = (
                room.nothing,
                output_write if self._script else room.null,
                room.null,
                turns_read,
                replies_write,
            )
            room.run(streams, data, program, cases, self._cpu_seconds)
        self._status: int | None = None
        for descriptor in (turns_read, replies_write, output_write):
            if descriptor >= 0:
                os.close(descriptor)
        self._meter = Meter(room.accounts, self._pid)
        self._doorman = room.doorman
        self._poll = select.poll()
        for descriptor in (0, self._replies, self._output, self._doorman.listener):
            if descriptor >= 0:
                self._poll.register(descriptor, select.POLLIN)

    def __enter__(self) -> "Process":
        """Returns itself: the process has been started."""
        return self

    def __exit__(
        self,
        kind: type | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Ends the process and closes its pipes."""
        self._end()
        self._meter.close()
        for descriptor in (self._turns, self._replies, self._output):
            if descriptor >= 0:
                os.close(descriptor)
        replies.empty()
        output.empty()

    def next(self) -> Outcome:
        """Runs the next test case until it ends or exceeds a limit."""
        replies.length = 0
        watch = Watch(self._budget, self._meter)
        outcome = self._watched(watch)
        watch.settle()
        return outcome

    def _watched(self, watch: Watch) -> Outcome:
        try:
            os.write(self._turns, b"\0")
        except BrokenPipeError:
            return self._ended()
        while True:
            events = self._poll.poll(watch.tick_ms)
            exceeded = watch.look()
            for descriptor, _ in events:
                outcome = self._take(descriptor)
                if outcome is not None:
                    return Outcome(EXCEEDED, exceeded) if exceeded is not None else outcome
            if exceeded is not None:
                return Outcome(EXCEEDED, exceeded)

    def _take(self, descriptor: int) -> Outcome | None:
        """Reads from one of the watched descriptors. Returns the outcome if the test case has ended."""
        if descriptor == 0:
            self._heed()
            return None
        if descriptor == self._doorman.listener:
            self._doorman.answer(self._meter)
            return None
        if descriptor == self._output:
            if output.fill(descriptor) == 0:
                self._poll.unregister(descriptor)
            return self._too_much() if output.length > OUTPUT_BYTES_MAX else None
        if replies.fill(descriptor) == 0:
            return self._ended()
        told = self._told()
        if told is None and self._claimed() > REPLY_BYTES_MAX:
            return Outcome(DIED, b"it wrote into the pipe of its replies")
        return None if self._script else told

    def _claimed(self) -> int:
        """Returns the length of the reply as its first four bytes state it; 0 if they have not arrived."""
        if replies.length < LENGTH.size:
            return 0
        return int(LENGTH.unpack(replies.part(0, LENGTH.size))[0])

    def _told(self) -> Outcome | None:
        """Returns the reply once it has arrived in full.

        If more bytes follow, the program tried to forge a reply, and counts as died.
        """
        end = LENGTH.size + self._claimed()
        if replies.length < end or replies.length <= LENGTH.size:
            return None
        if replies.length > end:
            return Outcome(DIED, b"it wrote into the pipe of its replies")
        return Outcome(REPLY, replies.part(LENGTH.size, end), alive=True)

    def _ended(self) -> Outcome:
        """Returns the outcome of a process that has closed its pipes."""
        self._let_end()
        killed = self._status == -signal.SIGKILL
        status = self._end()
        while self._script and output.length <= OUTPUT_BYTES_MAX and output.fill(self._output) > 0:
            pass
        if output.length > OUTPUT_BYTES_MAX:
            return self._too_much()
        told = self._told()
        if told is not None:
            return Outcome(told.kind, told.payload)
        if killed:
            raise KilledError("a process that had kept to its limits was killed: the machine may be short of memory")
        if status < 0:
            return Outcome(DIED, f"ended by {name_of_signal(-status)}".encode())
        if not self._script:
            return Outcome(DIED, f"it ended the process, with status {status}".encode())
        if status == 0:
            return Outcome(PRINTED, output.part(0, output.length))
        return Outcome(RAISED, f"an exit with status {status}".encode())

    def _too_much(self) -> Outcome:
        return Outcome(EXCEEDED, f"more than {OUTPUT_BYTES_MAX // MiB} MiB of output".encode())

    def _let_end(self) -> None:
        """Waits briefly for a process that has closed its pipes. If the process ends, stores its exit status.

        After too much processor time, SIGKILL is stored as SIGXCPU, because the kernel sent it. No allowed system call
        lets a program send SIGKILL.
        """
        if self._status is not None:
            return
        # Kernels before 5.3 have no pidfd_open. There the process is not awaited.
        with contextlib.suppress(OSError, AttributeError):
            descriptor = os.pidfd_open(self._pid)
            select.select([descriptor], [], [], END_SECONDS_MAX)
            os.close(descriptor)
        pid, status, used = os.wait4(self._pid, os.WNOHANG)
        if pid == 0:
            return
        self._status = os.waitstatus_to_exitcode(status)
        if self._status == -signal.SIGKILL and used.ru_utime + used.ru_stime > self._cpu_seconds - 1:
            self._status = -signal.SIGXCPU

    def _end(self) -> int:
        """Kills the process if it has not ended, and returns its exit status.

        Only its threads end with it, since it cannot start processes.
        """
        if self._status is None:
            os.kill(self._pid, signal.SIGKILL)
            self._status = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        return self._status


def name_of_signal(number: int) -> str:
    """Returns the name of a signal and, for some, the usual cause, e.g. "SIGSEGV, as by too deep a recursion"."""
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    reason = {
        "SIGSEGV": ", as by too deep a recursion",
        "SIGXCPU": ", as by too much processor time",
    }.get(name, "")
    return name + reason
