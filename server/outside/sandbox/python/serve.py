"""Receives jobs (a program with test cases) from the server one by one, and sends back the outcome of each case.

Jobs come in at descriptor 0, and outcomes go out at descriptor 1; ../zygote-frames.ts is the other end. This process
never runs a program and never parses a program's output. Its buffers are emptied after each job, so that no program
finds data of an earlier job in its memory.
"""

import json
import mmap
import os
import select
import struct

from child import CASE_HEADER, SCRIPT, Case, MiB, Room
from process import DIED, EXCEEDED, Outcome, Process
from time_limit import Budget, BusyError

FRAME_HEADER = struct.Struct(">BII")
JOB_HEADER = struct.Struct(">III")

# Kinds of messages from the server.
RUN, CANCEL, FIGURES = 1, 2, 3
# Kinds of messages to the server, besides the outcomes of cases (process.py).
HELLO, DONE, COUNTED, FAULT, BUSY = 10, 11, 12, 13, 14

JOB_BYTES_MAX = 64 * MiB
# Maximum bytes of the outcomes of all test cases of a job together.
TOTAL_BYTES_MAX = 16 * MiB
# After this number of a job's test cases exceeded a limit or died, the remaining cases are skipped.
BROKEN_MAX = 3


class GoneError(Exception):
    """Raised when the server has closed its end of the connection."""


class CancelledError(Exception):
    """Raised when the server has cancelled the job."""


class Job:
    """A job: where its program and its test cases lie in the received bytes."""

    def __init__(self, job_id: int, data: mmap.mmap, length: int) -> None:
        self.id = job_id
        self.data = data
        program_length, self.cpu_ms, count = JOB_HEADER.unpack_from(data, 0)
        at = JOB_HEADER.size + program_length
        self.program = (JOB_HEADER.size, at)
        self.cases: list[Case] = []
        for _ in range(count):
            kind, size = CASE_HEADER.unpack_from(data, at)
            start = at + CASE_HEADER.size
            at = start + size
            self.cases.append(Case(kind, start, at))
        if at != length:
            raise ValueError(f"a job of {length} bytes whose parts have {at}")

    def group(self, first: int) -> list[Case]:
        """Returns the test cases from index `first` on that can run in the same process. A script runs alone."""
        if self.cases[first].kind == SCRIPT:
            return self.cases[first : first + 1]
        last = first
        while last < len(self.cases) and self.cases[last].kind != SCRIPT:
            last += 1
        return self.cases[first:last]


def say(kind: int, job_id: int, payload: "bytes | memoryview" = b"") -> None:
    """Sends one message to the server."""
    rest = [
        memoryview(FRAME_HEADER.pack(kind, job_id, len(payload))),
        memoryview(payload),
    ]
    while rest:
        written = os.writev(1, rest)
        while rest and written >= len(rest[0]):
            written -= len(rest.pop(0))
        if rest:
            rest[0] = rest[0][written:]


class Server:
    """Runs the jobs that the server sends, one after the other."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._data = mmap.mmap(-1, JOB_BYTES_MAX, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self._view = memoryview(self._data)
        self._running = 0

    def serve(self) -> None:
        """Runs jobs until the server closes its end of the connection."""
        try:
            while True:
                self._take()
        except (GoneError, BrokenPipeError):
            return

    def _take(self) -> None:
        kind, job_id, length = self._read_header()
        if kind == FIGURES:
            say(COUNTED, job_id, json.dumps(figures()).encode())
        elif kind == RUN:
            if length > JOB_BYTES_MAX:
                raise GoneError
            self._fill(length)
            try:
                self._run(Job(job_id, self._data, length))
                say(DONE, job_id)
            except CancelledError:
                say(DONE, job_id)
            except BusyError as error:
                say(BUSY, job_id, str(error).encode())
            except (OSError, ValueError, struct.error) as error:
                if isinstance(error, BrokenPipeError):
                    raise
                say(FAULT, job_id, str(error).encode())
            finally:
                self._data.madvise(mmap.MADV_DONTNEED)
        # A request to cancel a job that has already ended is ignored.

    def _run(self, job: Job) -> None:
        self._running = job.id
        total = broken = at = 0
        budget = Budget(job.cpu_ms)
        while at < len(job.cases):
            group = job.group(at)
            with Process(self._room, job.data, job.program, group, budget, self._heed) as process:
                for _ in group:
                    outcome = process.next()
                    at += 1
                    total += len(outcome.payload)
                    if total > TOTAL_BYTES_MAX:
                        outcome = Outcome(
                            EXCEEDED,
                            f"more than {TOTAL_BYTES_MAX // MiB} MiB of results".encode(),
                        )
                    broken += outcome.kind in (EXCEEDED, DIED)
                    exhausted = total > TOTAL_BYTES_MAX or budget.left_ms < 0
                    stop = broken >= BROKEN_MAX or (outcome.kind == EXCEEDED and exhausted)
                    for _ in range(at - 1, len(job.cases) if stop else at):
                        say(outcome.kind, job.id, outcome.payload)
                    if stop:
                        return
                    if not outcome.alive:
                        break

    def _heed(self) -> None:
        """Reads a message from the server while a job runs. Raises CancelledError if it cancels this job."""
        kind, job_id, _ = self._read_header()
        if kind == CANCEL and job_id == self._running:
            raise CancelledError

    def _read_header(self) -> tuple[int, int, int]:
        header = b""
        while len(header) < FRAME_HEADER.size:
            part = os.read(0, FRAME_HEADER.size - len(header))
            if not part:
                raise GoneError
            header += part
        return FRAME_HEADER.unpack(header)

    def _fill(self, length: int) -> None:
        have = 0
        while have < length:
            got = os.readv(0, [self._view[have:length]])
            if got == 0:
                raise GoneError
            have += got


def figures() -> dict[str, int]:
    """Counts what programs may have left behind: child processes and open files."""
    try:
        os.waitpid(-1, os.WNOHANG)
        children = 1
    except ChildProcessError:
        children = 0
    poll = select.poll()
    for descriptor in range(256):
        poll.register(descriptor, 0)
    closed = sum(1 for _, event in poll.poll(0) if event & select.POLLNVAL)
    return {"children": children, "openFiles": 256 - closed}
