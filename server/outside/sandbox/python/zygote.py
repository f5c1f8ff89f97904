"""Starts a zygote, an isolated Python process that forks a child process for each run of a program.

The zygote has imported common modules, so that programs start fast. ../zygote.ts starts this file by
`python3 -S -s -B zygote.py`, with almost no environment variables.

The zygote tries each means of isolation, and reports in its first message which ones this kernel offers. Without
seccomp, or with neither Landlock nor namespaces, it refuses to run programs and says why.
"""

import contextlib
import gc
import json
import os
import platform
import resource
import signal
import sys
import sysconfig
import threading
from typing import NoReturn

import familiar
import filter
import kernel
from ahead import import_ahead
from child import MiB, Room, open_null
from doorman import Doorman
from meter import open_accounts
from serve import HELLO, Server, say

NOBODY = 65534
THREAD_STACK_BYTES = 16 * MiB
# Address space for modules that are loaded before a program begins, in addition to the program's memory limit. The
# modules need far less.
INHERITED_BYTES = 256 * MiB
NAMESPACES = kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS


def library_folders() -> list[str]:
    """Returns the folders of Python's standard library. Programs can import nothing from elsewhere."""
    paths = sysconfig.get_paths()
    return sorted({os.path.abspath(paths[name]) for name in ("stdlib", "platstdlib")})


def enter_namespaces(machine: str, readable: list[str], with_user: bool) -> None:
    """Enters new namespaces of process ids, network, shared memory and files.

    The process that is forked next is the first process in the namespace of process ids.
    """
    uid, gid = os.getuid(), os.getgid()
    kernel.unshare(NAMESPACES | (kernel.CLONE_NEWUSER if with_user else 0))
    if with_user:
        kernel.map_own_ids(uid, gid)
    kernel.enter_empty_root(machine, readable)


def become_nobody() -> None:
    """Changes from root to an unprivileged user, if possible.

    If it is impossible, as in some containers, this process stays root, and later gives up its capabilities.
    """
    if os.geteuid() != 0:
        return
    with contextlib.suppress(OSError):
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)


class RefusedError(Exception):
    """Raised if this kernel lacks a means of isolation without which no program may run."""


class Found:
    """The means of isolation that this kernel offers."""

    def __init__(self, without: set[str]) -> None:
        machine = filter.machine()
        if machine is None:
            raise RefusedError(f"there is no list of system calls for {platform.machine()}")
        self.machine = machine
        self.folders = library_folders()
        self.without = without
        self.landlock = 0 if "landlock" in without else kernel.landlock_version()
        self._with_user = os.getuid() != 0
        self.no_namespaces = "not asked for" if "namespaces" in without else kernel.tried(self.enter)
        if self.no_namespaces is not None and "namespaces" not in without and not self._with_user:
            # Root in a container is not root of the machine, and needs a user namespace like any user.
            self._with_user = True
            self.no_namespaces = kernel.tried(self.enter)
        if self.landlock == 0 and self.no_namespaces is not None:
            raise RefusedError(f"this kernel has neither Landlock nor namespaces for isolation ({self.no_namespaces})")

    def enter(self) -> None:
        """Enters the namespaces. Raises OSError where that is forbidden, as in many containers."""
        enter_namespaces(self.machine, self.folders, self._with_user)


def enter_own_user(found: Found) -> bool:
    """Enters a user namespace, so that the kernel counts only threads of programs. Returns whether that succeeded."""
    if found.no_namespaces is None and os.getuid() != NOBODY:
        return True  # The user namespace was entered together with the others.
    if "namespaces" in found.without:
        return False
    try:
        kernel.unshare(kernel.CLONE_NEWUSER)
    except OSError:
        return False
    return True


def counts_processes() -> bool:
    """Returns whether the kernel enforces RLIMIT_NPROC for this user, which it does not for root.

    Tries in a forked child to exceed the limit.
    """

    def start_one_too_many() -> None:
        resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
        started = os.fork()
        if started == 0:
            os._exit(0)
        os.waitpid(started, 0)

    return kernel.tried(start_one_too_many) is not None


def find_doorman(found: Found, is_own_user: bool) -> Doorman:
    """Chooses who limits the number of a program's threads.

    Either the kernel does, or this process, which the kernel then asks about each new thread.
    """
    if is_own_user and counts_processes():
        return Doorman()
    try:
        if "listener" in found.without:
            raise OSError("not asked for")
        made = kernel.make_filter(filter.asking_for_threads(found.machine))
        return Doorman(kernel.install_listener(found.machine, made))
    except OSError as error:
        raise RefusedError(
            f"this kernel cannot limit a program's threads: it lacks user namespaces and seccomp listeners ({error})"
        ) from error


def lock(found: Found, streams: tuple[int, int], accounts: int) -> Room:
    """Isolates this process and thereby its children. Returns the Room, by which each child isolates itself further."""
    become_nobody()
    is_own_user = enter_own_user(found)
    kernel.drop_capabilities(found.machine)
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    doorman = find_doorman(found, is_own_user)
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    rules = kernel.make_file_rules(found.landlock, found.folders) if found.landlock > 0 else None
    return Room(*streams, filter.program(found.machine), INHERITED_BYTES, doorman, rules, accounts)


def is_readable(folder: str) -> bool:
    """Returns whether programs can import standard modules that were not imported in advance."""
    try:
        return len(os.listdir(folder)) > 0
    except OSError:
        return False


def in_words(found: Found) -> dict[str, object]:
    """Describes the means of isolation, for the operator's log."""
    return {
        "python": platform.python_version(),
        "machine": found.machine,
        "landlock": found.landlock,
        "namespaces": found.no_namespaces is None,
        "noNamespaces": found.no_namespaces,
        "library": is_readable(found.folders[0]),
        "user": os.getuid(),
    }


def refuse(error: Exception) -> None:
    """Reports to the server why programs cannot be isolated on this machine."""
    say(HELLO, 0, json.dumps({"refused": str(error)}).encode())


def run_zygote(found: Found, streams: tuple[int, int], accounts: int) -> NoReturn:
    """Isolates this process, then runs jobs until the server closes the connection."""
    os.chdir("/")
    os.environ.clear()
    try:
        server = Server(lock(found, streams, accounts))
    except (RefusedError, OSError) as error:
        refuse(error)
        os._exit(0)
    familiar.furnish()
    sys.path[:] = [path for path in sys.path if os.path.dirname(__file__) != path]
    threading.stack_size(THREAD_STACK_BYTES)
    # Conversions of long ints need no limit of their own, because processor time is limited.
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)
    gc.disable()
    gc.collect()
    gc.freeze()
    say(HELLO, 0, json.dumps(in_words(found)).encode())
    server.serve()
    os._exit(0)


def main() -> None:
    """Starts the zygote as a child, and waits for its end.

    A process that creates a namespace of process ids stays outside of it; only its children are inside.
    """
    os.setsid()
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    import_ahead()
    streams = (open_null(os.O_WRONLY), open_null(os.O_RDONLY))
    accounts = open_accounts()
    try:
        found = Found(set(sys.argv[1:]))
        if found.no_namespaces is None:
            found.enter()
    except (RefusedError, OSError) as error:
        return refuse(error)
    zygote = os.fork()
    if zygote == 0:
        run_zygote(found, streams, accounts)
    os.close(0)
    os.close(1)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(zygote, 0)[1]) & 0xFF)


if __name__ == "__main__":
    main()
