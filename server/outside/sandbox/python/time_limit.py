"""Decides when a test case has used up its time: its processor time, and the time that it slept.

A program works, waits for a processor that others use, or sleeps. The kernel measures the first two. All remaining time
counts as sleep, whether the program sleeps, waits at a lock or a pipe, or is stopped.
"""

import ctypes
import os
import time

import kernel
from meter import Meter

TICK_MS_MIN = 4
TICK_MS_MAX = 50
# Milliseconds that a test case may sleep in addition to its limit of processor time.
IDLE_MS_MAX = 1000
# Time limit for all test cases of a job together, as a multiple of the limit for one.
JOB_FACTOR = 10
# Maximum waiting time for a processor that does not count as sleep, as a multiple of the time that the program worked.
# So a program that alternates between sleep and work cannot live much longer on a busy machine.
LOAD_MAX = 20
# Milliseconds of waiting for a processor that never count as sleep, because a program may wait before it works at all.
WAIT_MS_MIN = 1000
# Maximum milliseconds that all test cases of a job together may wait for a processor. The time limit of the whole job
# (envs/code/index.ts) is longer, so that this error, which names the reason, comes first.
WAIT_MS_MAX = 200_000
# Maximum milliseconds that count between two measurements. A longer gap means that the whole machine was halted.
PAUSE_MS_MAX = 1000


class BusyError(OSError):
    """Raised if the test cases of a job waited too long for a processor, because the machine is busy."""


class Budget:
    """Time limit of each test case of a job, and the time left to all together. Time slept counts like time worked."""

    def __init__(self, cpu_ms_max: int) -> None:
        self.cpu_ms_max = cpu_ms_max
        self.job_ms_max = JOB_FACTOR * cpu_ms_max + IDLE_MS_MAX
        self.left_ms = float(self.job_ms_max)
        self.waited_ms = 0.0


class Watch:
    """Measures the time of one test case. The measurement starts when this object is created."""

    def __init__(self, budget: Budget, meter: Meter) -> None:
        self._budget = budget
        self._meter = meter
        self._first_cpu_ms = meter.cpu_ms()
        self._first_waited_ms = meter.waited_ms() or 0.0
        self._last_ms = time.monotonic() * 1000
        self._passed_ms = self._used_ms = self._waited_ms = self._slept_ms = 0.0
        self.tick_ms = TICK_MS_MIN

    def look(self) -> bytes | None:
        """Returns which time limit the test case has exceeded, in words; None if it has exceeded none."""
        self._measure()
        budget = self._budget
        left_ms = budget.cpu_ms_max - self._used_ms
        if left_ms < 0:
            return f"more than {budget.cpu_ms_max:,} ms of processor time".encode()
        if self._slept_ms > budget.cpu_ms_max + IDLE_MS_MAX:
            return f"more than {budget.cpu_ms_max + IDLE_MS_MAX:,} ms of waiting".encode()
        if self._used_ms + self._slept_ms > budget.left_ms:
            return f"more than {budget.job_ms_max:,} ms for all tests together".encode()
        if budget.waited_ms + self._waited_ms > WAIT_MS_MAX:
            raise BusyError(f"the machine is too busy: a program waited {WAIT_MS_MAX // 1000} s for a processor")
        self.tick_ms = int(min(TICK_MS_MAX, max(TICK_MS_MIN, left_ms)))
        return None

    def settle(self) -> None:
        """Subtracts the time of this test case from the time left to the job."""
        self._measure()
        self._budget.left_ms -= self._used_ms + self._slept_ms
        self._budget.waited_ms += self._waited_ms

    def _measure(self) -> None:
        now_ms = time.monotonic() * 1000
        self._passed_ms += min(now_ms - self._last_ms, PAUSE_MS_MAX)
        self._last_ms = now_ms
        self._used_ms = self._meter.cpu_ms() - self._first_cpu_ms
        self._waited_ms = self._wait()
        self._slept_ms = max(0.0, self._passed_ms - self._used_ms - self._waited_ms)

    def _wait(self) -> float:
        """Returns how long the program waited for a processor, in milliseconds.

        If the kernel does not measure this, estimates the time from the machine's load.
        """
        told_ms = self._meter.waited_ms()
        if told_ms is None:
            return (load_of_machine() - 1) * self._used_ms
        return min(told_ms - self._first_waited_ms, LOAD_MAX * self._used_ms + WAIT_MS_MIN)


class SystemInfo(ctypes.Structure):
    """The first fields of the kernel's struct sysinfo."""

    _fields_ = [
        ("uptime", ctypes.c_long),
        ("loads", ctypes.c_ulong * 3),
        ("rest", ctypes.c_byte * 256),
    ]


def load_of_machine() -> float:
    """Returns the number of processes that compete for each processor, at least 1.

    Programs may run slower by this factor.
    """
    info = SystemInfo()
    kernel.libc.sysinfo(ctypes.byref(info))
    return min(LOAD_MAX, max(1.0, float(info.loads[0]) / 65536 / (os.cpu_count() or 1)))
