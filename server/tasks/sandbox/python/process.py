"""One forked process: its pipes, its limits of time and output, and its end."""

import contextlib
import ctypes
import mmap
import os
import select
import signal
import struct
import time
from collections.abc import Callable
from types import TracebackType

import kernel
from child import SCRIPT, Case, MiB, Room

# What a case came to. A REPLY is what the process says itself.
REPLY, PRINTED, RAISED, EXCEEDED, DIED = 1, 2, 3, 4, 5

LENGTH = struct.Struct(">I")
OUTPUT_BYTES_MAX = MiB
REPLY_BYTES_MAX = 2 * MiB

TICK_MS_MIN = 4
TICK_MS_MAX = 50
# A process that takes less of a processor than this is waiting for something; where others want it too, even less.
WORKING_SHARE = 0.02
# Beyond what a case may take of processor time.
IDLE_MS_MAX = 1000
WALL_MS_MIN = 5000
WALL_FACTOR = 5
# So much longer than one case all cases of a job may take together, so that a job comes to its end.
JOB_FACTOR = 10
# A machine that is busier than this is not waited for any longer.
LOAD_MAX = 20


class Outcome:
    """What one case came to, and whether the process can go on with the next."""

    def __init__(self, kind: int, payload: "bytes | memoryview", alive: bool = False) -> None:
        self.kind = kind
        self.payload = payload
        self.alive = alive


class Budget:
    """What cases may take: each, and all of a job together. Waiting counts as work."""

    def __init__(self, cpu_ms_max: int) -> None:
        self.cpu_ms_max = cpu_ms_max
        self.job_ms_max = JOB_FACTOR * cpu_ms_max + IDLE_MS_MAX
        self.left_ms = float(self.job_ms_max)


class Buffer:
    """A map of memory that is filled from a pipe, and emptied for the next process."""

    def __init__(self, size: int) -> None:
        self._map = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self._view = memoryview(self._map)
        self.length = 0

    def fill(self, descriptor: int) -> int:
        """Takes what is there; 0: the pipe has come to its end."""
        got = os.readv(descriptor, [self._view[self.length :]])
        self.length += got
        return got

    def part(self, start: int, end: int) -> memoryview:
        """Valid until it is emptied."""
        return self._view[start:end]

    def empty(self) -> None:
        """Forgets all, and gives the memory back."""
        self.length = 0
        self._map.madvise(mmap.MADV_DONTNEED)


replies = Buffer(LENGTH.size + REPLY_BYTES_MAX)
# One more than there may be.
output = Buffer(OUTPUT_BYTES_MAX + 1)


class Process:
    """Runs its cases one after the other, each when it is asked for the next."""

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
        cpu_seconds = min(len(cases), JOB_FACTOR) * budget.cpu_ms_max // 1000 + 3
        self._pid = os.fork()
        if self._pid == 0:
            streams = (
                room.nothing,
                output_write if self._script else room.null,
                room.null,
                turns_read,
                replies_write,
            )
            room.run(streams, data, program, cases, cpu_seconds)
        self._status: int | None = None
        for descriptor in (turns_read, replies_write, output_write):
            if descriptor >= 0:
                os.close(descriptor)
        self._clock = ~self._pid << 3 | 2
        self._cpu_seen = 0.0
        self._poll = select.poll()
        for descriptor in (0, self._replies, self._output):
            if descriptor >= 0:
                self._poll.register(descriptor, select.POLLIN)

    def __enter__(self) -> "Process":
        """It is there already."""
        return self

    def __exit__(
        self,
        kind: type | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing of it is left."""
        self._end()
        for descriptor in (self._turns, self._replies, self._output):
            if descriptor >= 0:
                os.close(descriptor)
        replies.empty()
        output.empty()

    def next(self) -> Outcome:
        """Lets the next case run, to its end or to a limit."""
        replies.length = 0
        watch = Watch(self._budget, self._cpu())
        outcome = self._watched(watch)
        watch.settle(self._cpu())
        return outcome

    def _watched(self, watch: "Watch") -> Outcome:
        try:
            os.write(self._turns, b"\0")
        except BrokenPipeError:
            return self._ended()
        while True:
            events = self._poll.poll(watch.tick_ms)
            exceeded = watch.look(self._cpu())
            for descriptor, _ in events:
                outcome = self._take(descriptor)
                if outcome is not None:
                    return Outcome(EXCEEDED, exceeded) if exceeded is not None else outcome
            if exceeded is not None:
                return Outcome(EXCEEDED, exceeded)

    def _take(self, descriptor: int) -> Outcome | None:
        """What came over one pipe; the outcome, if that ends the case."""
        if descriptor == 0:
            self._heed()
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
        """How long the reply is, by its own account."""
        if replies.length < LENGTH.size:
            return 0
        return int(LENGTH.unpack(replies.part(0, LENGTH.size))[0])

    def _told(self) -> Outcome | None:
        """The reply, once it is whole and nothing comes after it."""
        end = LENGTH.size + self._claimed()
        if replies.length < end or replies.length <= LENGTH.size:
            return None
        if replies.length > end:
            return Outcome(DIED, b"it wrote into the pipe of its replies")
        return Outcome(REPLY, replies.part(LENGTH.size, end), alive=True)

    def _ended(self) -> Outcome:
        """What the process came to, which has closed its pipes."""
        status = self._end()
        while self._script and output.length <= OUTPUT_BYTES_MAX and output.fill(self._output) > 0:
            pass
        if output.length > OUTPUT_BYTES_MAX:
            return self._too_much()
        told = self._told()
        if told is not None:
            return Outcome(told.kind, told.payload)
        if status < 0:
            return Outcome(DIED, f"ended by {name_of_signal(-status)}".encode())
        if not self._script:
            return Outcome(DIED, f"it ended the process, with status {status}".encode())
        if status == 0:
            return Outcome(PRINTED, output.part(0, output.length))
        return Outcome(RAISED, f"it ended with status {status}".encode())

    def _too_much(self) -> Outcome:
        return Outcome(EXCEEDED, f"more than {OUTPUT_BYTES_MAX // MiB} MiB of output".encode())

    def _end(self) -> int:
        """Ends the process, if it has not ended by itself. Its threads are all that it can have started."""
        if self._status is None:
            os.kill(self._pid, signal.SIGKILL)
            self._status = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        return self._status

    def _cpu(self) -> float:
        """Processor time that all its threads have taken, milliseconds."""
        with contextlib.suppress(OSError):
            self._cpu_seen = time.clock_gettime(self._clock) * 1000
        return self._cpu_seen


class Watch:
    """Says when a case has had its time. Processor time is what counts; a clock is there for what only waits."""

    def __init__(self, budget: Budget, cpu_ms: float) -> None:
        self._budget = budget
        self._cpu_ms_max = budget.cpu_ms_max
        self._first_cpu_ms = self._last_cpu_ms = cpu_ms
        self._first_ms = self._last_ms = time.monotonic() * 1000
        self._idle_ms = 0.0
        self.tick_ms = TICK_MS_MIN

    def look(self, cpu_ms: float) -> bytes | None:
        """The limit that is exceeded, if one is."""
        now_ms = time.monotonic() * 1000
        used_ms = cpu_ms - self._first_cpu_ms
        passed_ms = now_ms - self._last_ms
        if passed_ms >= TICK_MS_MIN:
            if cpu_ms - self._last_cpu_ms < WORKING_SHARE * passed_ms / load_of_machine():
                # Of what passed while this process had no turn itself, nothing is known.
                self._idle_ms += min(passed_ms, 2 * TICK_MS_MAX)
            self._last_ms, self._last_cpu_ms = now_ms, cpu_ms
        left_ms = self._cpu_ms_max - used_ms
        if left_ms < 0:
            return f"more than {self._cpu_ms_max:,} ms of processor time".encode()
        if self._idle_ms > self._cpu_ms_max + IDLE_MS_MAX:
            return f"more than {self._cpu_ms_max + IDLE_MS_MAX:,} ms of waiting".encode()
        if used_ms + self._idle_ms > self._budget.left_ms:
            return f"more than {self._budget.job_ms_max:,} ms for all tests together".encode()
        wall_ms_max = WALL_MS_MIN + WALL_FACTOR * self._cpu_ms_max
        if now_ms - self._first_ms > wall_ms_max and now_ms - self._first_ms > wall_ms_max * load_of_machine():
            return f"more than {wall_ms_max:,} ms, most of them of waiting".encode()
        self.tick_ms = int(min(TICK_MS_MAX, max(TICK_MS_MIN, left_ms)))
        return None

    def settle(self, cpu_ms: float) -> None:
        """Takes what the case has taken from what is left to the job."""
        self._budget.left_ms -= cpu_ms - self._first_cpu_ms + self._idle_ms


class SystemInfo(ctypes.Structure):
    """The beginning of struct sysinfo."""

    _fields_ = [
        ("uptime", ctypes.c_long),
        ("loads", ctypes.c_ulong * 3),
        ("rest", ctypes.c_byte * 256),
    ]


def load_of_machine() -> float:
    """Processes that want each processor, at least 1: by so much a program may be slowed down."""
    info = SystemInfo()
    kernel.libc.sysinfo(ctypes.byref(info))
    return min(LOAD_MAX, max(1.0, float(info.loads[0]) / 65536 / (os.cpu_count() or 1)))


def name_of_signal(number: int) -> str:
    """E.g. "SIGSEGV"; some with what mostly brings them about."""
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    reason = {
        "SIGSEGV": ", as by too deep a recursion",
        "SIGKILL": ", as when memory is short",
    }.get(name, "")
    return name + reason
