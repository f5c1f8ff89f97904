"""What happens in the process of one run: it locks itself in, and then runs the program."""

import atexit
import contextlib
import fcntl
import gc
import mmap
import os
import resource
import signal
import struct
from collections.abc import Sequence
from resource import setrlimit
from typing import NoReturn

import kernel
import runner
from doorman import THREADS_MAX, Doorman

# Descriptors of a child, beside its input and outputs.
TURNS = 3
REPLIES = 4

MiB = 1024**2
OPEN_FILES_MAX = 16
# A stack of 512 MiB, which some programs give to a thread of theirs, fits in.
MEMORY_MIB_MAX = 768

SCRIPT = 0
CASE_HEADER = struct.Struct(">BI")


class Case:
    """Where a case lies in the bytes of a job."""

    def __init__(self, kind: int, start: int, end: int) -> None:
        self.kind = kind
        self.start = start
        self.end = end


def limit(inherited_bytes: int, cpu_seconds: int, count_threads: bool) -> None:
    """Limits that the kernel keeps. That of processor time is coarse: the zygote ends a run long before it."""
    memory = MEMORY_MIB_MAX * MiB + inherited_bytes
    setrlimit(resource.RLIMIT_AS, (memory, memory))
    setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
    setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES_MAX, OPEN_FILES_MAX))
    for nothing in (
        resource.RLIMIT_FSIZE,
        resource.RLIMIT_CORE,
        resource.RLIMIT_MEMLOCK,
        resource.RLIMIT_MSGQUEUE,
    ):
        setrlimit(nothing, (0, 0))
    if count_threads:
        setrlimit(resource.RLIMIT_NPROC, (THREADS_MAX, THREADS_MAX))


class Room:
    """What all children of a zygote have in common."""

    def __init__(
        self,
        null: int,
        nothing: int,
        filter_code: bytes,
        inherited_bytes: int,
        doorman: Doorman,
        file_rules: int | None,
        accounts: int,
    ) -> None:
        self._filter = kernel.make_filter(filter_code)
        self._inherited_bytes = inherited_bytes
        self._file_rules = file_rules
        self._zygote = os.getpid()
        self.doorman = doorman
        # Where the kernel tells what processes have taken (meter.py).
        self.accounts = accounts
        # What takes everything, and what there is nothing in.
        self.null = null
        self.nothing = nothing

    def lock(self, cpu_seconds: int) -> None:
        """There is no way back from here."""
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != self._zygote:
            os._exit(1)
        # A session of its own would be a scheduling group of its own, which costs more than all the rest.
        os.setpgid(0, 0)
        limit(self._inherited_bytes, cpu_seconds, self.doorman.is_kernel)
        kernel.install_filter(self._filter)

    def run(
        self,
        streams: Sequence[int],
        job: mmap.mmap,
        program: tuple[int, int],
        cases: list[Case],
        cpu_seconds: int,
    ) -> NoReturn:
        """Runs one script, or all calls when their turn comes, and ends the process, whatever happens.

        The streams become descriptors 0, 1, 2, TURNS and REPLIES.
        """
        status = 1
        begun = False
        try:
            # Here, and not in the zygote, which reads the kernel's accounts.
            if self._file_rules is not None:
                kernel.restrict_files(self._file_rules)
            for target, source in enumerate(streams):
                os.dup2(source, target)
            os.closerange(REPLIES + 1, 1 << 16)
            text = job[slice(*program)].decode()
            if cases[0].kind == SCRIPT:
                give_input(job[cases[0].start : cases[0].end])
            self.lock(cpu_seconds)
            gc.enable()
            atexit._clear()
            runner.prepare()
            os.read(TURNS, 1)
            begun = True
            if cases[0].kind == SCRIPT:
                status, told = runner.run_script(text)
                if told is not None:
                    send(told)
            else:
                module = runner.Module(text)
                for i, case in enumerate(cases):
                    if i > 0:
                        os.read(TURNS, 1)
                    send(module.call(runner.from_json(job[case.start : case.end].decode())))
                status = 0
        finally:
            if not begun:
                kill_itself()
            os._exit(status)


def kill_itself() -> None:
    """Ends a process whose program has not begun as no program can end its own: that is told as a failure of ours."""
    with contextlib.suppress(OSError):
        os.kill(os.getpid(), signal.SIGKILL)


def open_null(flags: int) -> int:
    """The null device. No descriptor of the zygote lies where a child has those of its own."""
    opened = os.open(os.devnull, flags)
    null = fcntl.fcntl(opened, fcntl.F_DUPFD_CLOEXEC, REPLIES + 1)
    for place in (TURNS, REPLIES):
        os.dup2(null, place)
    if opened > REPLIES:
        os.close(opened)
    return null


def give_input(data: bytes) -> None:
    """Puts a script's input where it reads it: in memory, and not to be changed."""
    handle = os.memfd_create("input", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    runner.write_all(handle, data)
    os.lseek(handle, 0, os.SEEK_SET)
    os.dup2(handle, 0)
    os.close(handle)
    add_seals, seal_seal, seal_shrink, seal_grow, seal_write = 1033, 1, 2, 4, 8
    kernel.libc.fcntl(0, add_seals, seal_seal | seal_shrink | seal_grow | seal_write)


def send(reply: bytes) -> None:
    """Tells the zygote what a case came to."""
    runner.write_all(REPLIES, struct.pack(">I", len(reply)) + reply)
