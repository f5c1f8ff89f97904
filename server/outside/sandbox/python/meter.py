"""Measures how long a process used a processor and how long it waited for one, from the kernel's figures in /proc."""

import contextlib
import os
import time

# Minimum interval between two reads of the kernel's figures, in milliseconds.
READ_EVERY_MS = 20


def open_accounts() -> int:
    """Opens the folder /proc. Must be called before this process enters namespaces, which may have another /proc.

    Returns -1 if the folder cannot be read.
    """
    try:
        return os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return -1


class Meter:
    """Measures the processor time and the waiting time of a process with all its threads."""

    def __init__(self, accounts: int, pid: int) -> None:
        self._accounts = accounts
        self._pid = pid
        self._clock = ~pid << 3 | 2
        self._folder: int | None = None
        self._cpu_ms = 0.0
        self._delays: dict[str, int] = {}
        self._waited_ms: float | None = 0.0
        self._read_at_ms = time.monotonic() * 1000

    def close(self) -> None:
        """Closes the process's folder in /proc."""
        if self._folder is not None and self._folder >= 0:
            os.close(self._folder)
        self._folder = -1

    def cpu_ms(self) -> float:
        """Returns the processor time of all threads of the process, in milliseconds."""
        # If the process has ended, the last known value is returned.
        with contextlib.suppress(OSError):
            self._cpu_ms = time.clock_gettime(self._clock) * 1000
        return self._cpu_ms

    def waited_ms(self) -> float | None:
        """Returns how long, in milliseconds, the process was ready to run but got no processor.

        None: the kernel does not measure this.

        If several threads wait at the same time, the longest wait counts.
        """
        now_ms = time.monotonic() * 1000
        passed_ms = now_ms - self._read_at_ms
        if self._waited_ms is None or passed_ms < READ_EVERY_MS:
            return self._waited_ms
        self._read_at_ms = now_ms
        delays = self._read_delays()
        if delays is None:
            self._waited_ms = None
        else:
            longest = max((delay - self._delays.get(name, 0) for name, delay in delays.items()), default=0)
            self._delays = delays
            self._waited_ms += min(passed_ms, longest / 1e6)
        return self._waited_ms

    def threads(self) -> int | None:
        """Returns the number of the process's threads; None if /proc does not show it."""
        try:
            return len(os.listdir(self._threads_folder()))
        except OSError:
            return None

    def _read_delays(self) -> dict[str, int] | None:
        """Returns for each thread how long it has waited for a processor since it began, in nanoseconds."""
        delays: dict[str, int] = {}
        ran = 0
        try:
            for name in os.listdir(self._threads_folder()):
                try:
                    text = read_file(f"{name}/schedstat", self._threads_folder())
                except (FileNotFoundError, ProcessLookupError):
                    continue  # The thread has ended in the meantime.
                on, delays[name], _ = (int(field) for field in text.split())
                ran += on
        except (OSError, ValueError):
            return None
        # Kernels that do not measure the waits write zeros.
        return delays if ran > 0 or not delays else None

    def _threads_folder(self) -> int:
        if self._folder is None:
            try:
                place = f"{outside_id(self._accounts, self._pid)}/task"
                self._folder = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self._accounts)
            except (OSError, AttributeError, ValueError):
                self._folder = -1
        if self._folder < 0:
            raise OSError("the kernel has no accounts of the process")
        return self._folder


def outside_id(accounts: int, pid: int) -> int:
    """Returns the process id of a child as it is outside of namespaces, and as /proc shows it.

    Inside a namespace of process ids, the child has another id.
    """
    handle = os.pidfd_open(pid)
    try:
        fields = read_file(f"self/fdinfo/{handle}", accounts).split()
        return int(fields[fields.index("Pid:") + 1])
    finally:
        os.close(handle)


def read_file(path: str, folder: int) -> str:
    """Returns the contents of a small file under /proc. `path` is relative to the open folder `folder`."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
    try:
        return os.read(handle, 4096).decode()
    finally:
        os.close(handle)
