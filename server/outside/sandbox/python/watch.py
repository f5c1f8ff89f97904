"""Decides when a case has used up its time: its processor time, and the time that it slept.

A program's time is known in full: at each moment it works, waits until others leave it a processor, or sleeps. The
kernel counts the first two. The rest is sleep, however it comes about: asleep, at a lock, at a pipe, stopped, or
working for a hundredth of the time.
"""

import ctypes
import os
import time

import kernel
from meter import Meter

TICK_MS_MIN = 4
TICK_MS_MAX = 50
# Time that a case may sleep beyond its limit of processor time.
IDLE_MS_MAX = 1000
# Time limit of all cases of a job together, as a multiple of one case's, so that each job ends.
JOB_FACTOR = 10
# Waiting for a processor counts up to this multiple of the work. A busy machine slows a working program down by so
# much; a program that sleeps and works by turns must not live longer for it.
LOAD_MAX = 20
# Additional wait that counts: a program may wait before its first turn.
WAIT_MS_MIN = 1000
# Maximum time that all cases of a job may wait for a processor. With all other time of a job it is less than the time
# limit of the resource (envs/code/index.ts), so that the error says why.
WAIT_MS_MAX = 200_000
# A longer gap between two looks counts as this long, because the whole machine was halted.
PAUSE_MS_MAX = 1000


class BusyError(OSError):
    """The machine had no processor for the program."""


class Budget:
    """Time budget of a job's cases: of each, and of all together. Sleep counts as work."""

    def __init__(self, cpu_ms_max: int) -> None:
        self.cpu_ms_max = cpu_ms_max
        self.job_ms_max = JOB_FACTOR * cpu_ms_max + IDLE_MS_MAX
        self.left_ms = float(self.job_ms_max)
        self.waited_ms = 0.0


class Watch:
    """Measures one case, which begins now."""

    def __init__(self, budget: Budget, meter: Meter) -> None:
        self._budget = budget
        self._meter = meter
        self._first_cpu_ms = meter.cpu_ms()
        self._first_waited_ms = meter.waited_ms() or 0.0
        self._last_ms = time.monotonic() * 1000
        self._passed_ms = self._used_ms = self._waited_ms = self._slept_ms = 0.0
        self.tick_ms = TICK_MS_MIN

    def look(self) -> bytes | None:
        """Returns the exceeded limit in words; None if there is none."""
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
        """Subtracts the time of the case from the job's remaining time."""
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
        """Returns the wait for a processor. If the kernel does not tell, estimates it from the machine's load."""
        told_ms = self._meter.waited_ms()
        if told_ms is None:
            return (load_of_machine() - 1) * self._used_ms
        return min(told_ms - self._first_waited_ms, LOAD_MAX * self._used_ms + WAIT_MS_MIN)


class SystemInfo(ctypes.Structure):
    """The beginning of struct sysinfo."""

    _fields_ = [
        ("uptime", ctypes.c_long),
        ("loads", ctypes.c_ulong * 3),
        ("rest", ctypes.c_byte * 256),
    ]


def load_of_machine() -> float:
    """Returns the processes that want each processor, at least 1. A program may be slowed down by this factor."""
    info = SystemInfo()
    kernel.libc.sysinfo(ctypes.byref(info))
    return min(LOAD_MAX, max(1.0, float(info.loads[0]) / 65536 / (os.cpu_count() or 1)))
