"""Isolates the process that is forked for one program, and then runs the program in it."""

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

# File descriptors of a program's process, besides its standard streams. The process waits at TURNS for permission to
# start the next test case, and writes results to REPLIES.
TURNS = 3
REPLIES = 4

MiB = 1024**2
OPEN_FILES_MAX = 16
# Memory limit of a program, in MiB. It leaves room for programs that give one of their threads a stack of 512 MiB.
MEMORY_MIB_MAX = 768

SCRIPT = 0
CASE_HEADER = struct.Struct(">BI")


class Case:
    """Kind of a test case, and where its input lies in the bytes of a job."""

    def __init__(self, kind: int, start: int, end: int) -> None:
        self.kind = kind
        self.start = start
        self.end = end


def limit(inherited_bytes: int, cpu_seconds: int, count_threads: bool) -> None:
    """Sets limits on memory, processor time, files and threads, which the kernel enforces.

    The limit on processor time is only a safeguard: the parent process ends a program long before.
    """
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
    """Isolation that the processes of all programs share: their system call filter, file rules and limits."""

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
        # Descriptor of /proc, from which processor times are read (meter.py).
        self.accounts = accounts
        # Descriptors of /dev/null: `null` discards output, and `nothing` is an empty input.
        self.null = null
        self.nothing = nothing

    def lock(self, cpu_seconds: int) -> None:
        """Isolates this process irrevocably, before a program runs in it."""
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != self._zygote:
            os._exit(1)
        # A process group suffices. A session of its own would make the kernel schedule the process as a separate group,
        # which costs more time than all other steps together.
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
        """Runs one script, or calls functions of the program case by case, and then always ends the process.

        `streams` become the descriptors 0, 1, 2, TURNS and REPLIES.
        """
        status = 1
        begun = False
        try:
            # File access is restricted here and not earlier, because the parent process must keep reading /proc.
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
    """Ends this process by SIGKILL because it could not start its program.

    A program cannot end its own process by SIGKILL, so the server knows that the failure is not the program's.
    """
    with contextlib.suppress(OSError):
        os.kill(os.getpid(), signal.SIGKILL)


def open_null(flags: int) -> int:
    """Opens /dev/null, and returns its descriptor.

    Also opens it as the descriptors TURNS and REPLIES, so that the parent process opens no other file there: its
    children use these numbers.
    """
    opened = os.open(os.devnull, flags)
    null = fcntl.fcntl(opened, fcntl.F_DUPFD_CLOEXEC, REPLIES + 1)
    for place in (TURNS, REPLIES):
        os.dup2(null, place)
    if opened > REPLIES:
        os.close(opened)
    return null


def give_input(data: bytes) -> None:
    """Makes `data` the standard input of this process: a read-only file in memory."""
    handle = os.memfd_create("input", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    runner.write_all(handle, data)
    os.lseek(handle, 0, os.SEEK_SET)
    os.dup2(handle, 0)
    os.close(handle)
    add_seals, seal_seal, seal_shrink, seal_grow, seal_write = 1033, 1, 2, 4, 8
    kernel.libc.fcntl(0, add_seals, seal_seal | seal_shrink | seal_grow | seal_write)


def send(reply: bytes) -> None:
    """Sends the result of a test case to the parent process, preceded by the result's length."""
    runner.write_all(REPLIES, struct.pack(">I", len(reply)) + reply)
