"""When a case has had its time: processor time first, and a clock for what only waits."""

import ctypes
import os
import time

import kernel

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


class Budget:
    """What cases may take: each, and all of a job together. Waiting counts as work."""

    def __init__(self, cpu_ms_max: int) -> None:
        self.cpu_ms_max = cpu_ms_max
        self.job_ms_max = JOB_FACTOR * cpu_ms_max + IDLE_MS_MAX
        self.left_ms = float(self.job_ms_max)


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
