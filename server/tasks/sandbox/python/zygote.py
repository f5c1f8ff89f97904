"""Starts a zygote: an interpreter with its imports done, locked in, that forks a process for each run.

It is started by ../zygote.ts as `python3 -S -s -B zygote.py`, with next to nothing in its environment. Each step
towards the empty room is tried, and what this kernel gives is told in the first frame. Without seccomp, or with neither
Landlock nor namespaces, it tells why it refuses, and ends.
"""

import contextlib
import gc
import importlib
import json
import os
import platform
import signal
import sys
import sysconfig
import threading
from collections.abc import Callable
from typing import NoReturn

import familiar
import filter
import kernel
from child import MiB, Room, open_null
from serve import HELLO, Server, say

# What tests' programs import. It costs nothing where it is there already.
IMPORTS = [
    "abc",
    "array",
    "ast",
    "base64",
    "binascii",
    "bisect",
    "calendar",
    "cmath",
    "collections",
    "collections.abc",
    "contextlib",
    "copy",
    "csv",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "enum",
    "fractions",
    "functools",
    "graphlib",
    "hashlib",
    "heapq",
    "inspect",
    "io",
    "itertools",
    "json",
    "keyword",
    "locale",
    "math",
    "numbers",
    "operator",
    "os",
    "pprint",
    "queue",
    "random",
    "re",
    "secrets",
    "statistics",
    "string",
    "struct",
    "sys",
    "textwrap",
    "threading",
    "time",
    "timeit",
    "traceback",
    "types",
    "typing",
    "unicodedata",
    "uuid",
    "warnings",
    "weakref",
    "zlib",
    "_strptime",
    "encodings.ascii",
    "encodings.latin_1",
    "encodings.utf_8",
    "encodings.utf_16",
    "encodings.idna",
]

# The parts of others that need libraries from outside of Python's folders, which are out of reach later.
EXTENSIONS = ["_bz2", "_lzma", "_sqlite3", "_ssl", "pyexpat"]

NOBODY = 65534
THREAD_STACK_BYTES = 16 * MiB
# Of addresses, for what is there before a program begins; far more than it is.
INHERITED_BYTES = 256 * MiB
NAMESPACES = kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS


def import_ahead() -> None:
    """The libraries."""
    for name in IMPORTS + EXTENSIONS:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def library_folders() -> list[str]:
    """Where Python's own modules are; no others are there for programs."""
    paths = sysconfig.get_paths()
    return sorted({os.path.abspath(paths[name]) for name in ("stdlib", "platstdlib")})


def enter_namespaces(machine: str, readable: list[str], with_user: bool) -> None:
    """Process ids, network, shared memory and files of its own; children are in the first of them."""
    uid, gid = os.getuid(), os.getgid()
    kernel.unshare(NAMESPACES | (kernel.CLONE_NEWUSER if with_user else 0))
    if with_user:
        kernel.map_own_ids(uid, gid)
    kernel.enter_empty_root(machine, readable)


def tried(step: Callable[[], None]) -> str | None:
    """Why a step cannot be taken, found out in a process of its own; None: it can."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            step()
            os._exit(0)
        except OSError as error:
            os.write(write, str(error).encode())
        finally:
            os._exit(1)
    os.close(write)
    with open(read, "rb") as pipe:
        why = pipe.read().decode()
    status = os.waitpid(child, 0)[1]
    return why or "it failed" if status != 0 else None


def become_nobody() -> None:
    """Gives up being root, where root may: one without capabilities, as in some containers, is as good as a user."""
    if os.geteuid() != 0:
        return
    with contextlib.suppress(OSError):
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)


class RefusedError(Exception):
    """This kernel does not give what it takes."""


class Found:
    """What there is to lock programs in with."""

    def __init__(self, without: set[str]) -> None:
        machine = filter.machine()
        if machine is None:
            raise RefusedError(f"there is no list of system calls for {platform.machine()}")
        self.machine = machine
        self.folders = library_folders()
        self.landlock = 0 if "landlock" in without else kernel.landlock_version()
        self._with_user = os.getuid() != 0
        self.no_namespaces = "not asked for" if "namespaces" in without else tried(self.enter)
        if self.no_namespaces is not None and "namespaces" not in without and not self._with_user:
            # Root in a container is not root of the machine, and may do what any user may.
            self._with_user = True
            self.no_namespaces = tried(self.enter)
        if self.landlock == 0 and self.no_namespaces is not None:
            raise RefusedError(f"this kernel has neither Landlock nor namespaces for it ({self.no_namespaces})")

    def enter(self) -> None:
        """Into the namespaces. RefusedError by many containers."""
        enter_namespaces(self.machine, self.folders, self._with_user)


def lock(found: Found, streams: tuple[int, int]) -> Room:
    """What holds for the zygote and for all its children. Gives what is left to be done in each of them."""
    own_user = False
    become_nobody()
    if found.no_namespaces is None:
        # Who was root has none yet. Threads are counted by user and namespace.
        with contextlib.suppress(OSError):
            if os.getuid() == NOBODY:
                kernel.unshare(kernel.CLONE_NEWUSER)
            own_user = True
    kernel.drop_capabilities(found.machine)
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    room = Room(*streams, filter.program(found.machine), INHERITED_BYTES, own_user)
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    if found.landlock > 0:
        kernel.restrict_files(found.landlock, found.folders)
    return room


def is_readable(folder: str) -> bool:
    """Whether programs can import what was not imported ahead."""
    try:
        return len(os.listdir(folder)) > 0
    except OSError:
        return False


def in_words(found: Found) -> dict[str, object]:
    """What the server tells the operator."""
    return {
        "python": platform.python_version(),
        "machine": found.machine,
        "landlock": found.landlock,
        "namespaces": found.no_namespaces is None,
        "noNamespaces": found.no_namespaces,
        "library": is_readable(found.folders[0]),
        "user": os.getuid(),
    }


def run_zygote(found: Found, streams: tuple[int, int]) -> NoReturn:
    """The process that forks."""
    os.chdir("/")
    os.environ.clear()
    server = Server(lock(found, streams))
    familiar.furnish()
    sys.path[:] = [path for path in sys.path if os.path.dirname(__file__) != path]
    threading.stack_size(THREAD_STACK_BYTES)
    # Long ints cost processor time, which is limited anyway.
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)
    gc.disable()
    gc.collect()
    gc.freeze()
    say(HELLO, 0, json.dumps(in_words(found)).encode())
    server.serve()
    os._exit(0)


def main() -> None:
    """Leaves a parent behind that only waits: who enters a namespace of process ids is not in it, but its children."""
    os.setsid()
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    import_ahead()
    streams = (open_null(os.O_WRONLY), open_null(os.O_RDONLY))
    try:
        found = Found(set(sys.argv[1:]))
        if found.no_namespaces is None:
            found.enter()
    except (RefusedError, OSError) as error:
        say(HELLO, 0, json.dumps({"refused": str(error)}).encode())
        return
    zygote = os.fork()
    if zygote == 0:
        run_zygote(found, streams)
    os.close(0)
    os.close(1)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(zygote, 0)[1]) & 0xFF)


if __name__ == "__main__":
    main()
