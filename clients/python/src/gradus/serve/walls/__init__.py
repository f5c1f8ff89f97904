"""Isolates a host (mounted code) and its workers, with the same system calls as the server's sandbox for programs.

kernel.py and filter.py are links to the sandbox's own files. The walls hold before the first line of mounted code runs,
for the host's process and all that it forks. Nothing can be written. Nothing can be read but Python, its packages, the
mounted file's own folder and what was allowed by name; the server's files are hidden even there. No other process can
be signalled, traced or limited. No process leaves the host's process group, which the server ends as a whole. A worker
is limited further: it makes only listed system calls, starts no thread, and has a limit of memory.
"""

from __future__ import annotations

import contextlib
import mimetypes
import mmap
import os
import resource
import signal
import sys
import sysconfig
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gradus.serve.walls import filter, kernel
from gradus.serve.walls.places import Places, RefusedError

MiB = 1024**2
OPEN_FILES_MAX = 256

# Shared libraries and system files that the C library reads, which every host may read.
SYSTEM = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share/zoneinfo", "/etc/ld.so.cache"]
SYSTEM += ["/etc/localtime", "/dev/null", "/dev/urandom"]
# Python's module mimetypes opens each of these files that exists, and raises if it may not read one.
SYSTEM += map(str, mimetypes.knownfiles)
# Files for resolving host names, and certificates, which a host with network access may read.
RESOLVING = ["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/services"]
RESOLVING += ["/etc/ssl", "/etc/pki", "/usr/share/ca-certificates", "/usr/local/share/ca-certificates", "/run/systemd"]

# Linux namespaces of a host: mounts, System V shared memory (IPC) and host name (UTS).
OF_HOST = kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS


@dataclass(frozen=True)
class Asked:
    """Files, network access and memory that a host gets. Paths are absolute."""

    own: Path | None
    """Folder of the mounted file; None: no file is mounted."""
    read: Sequence[str] = ()
    """Files and folders that the operator allowed by name (--allow read=PATH)."""
    hidden: Sequence[str] = ()
    """The server's files and folders, which are hidden wherever they lie."""
    start_folder: str = ""
    """Folder in which the server was started. It never counts as a package folder, but folders inside it can."""
    network: bool = False
    memory_mib: int = 1024
    without: Collection[str] = field(default_factory=frozenset)
    """Kinds of isolation not to use, in tests, although the kernel has them: "landlock" or "namespaces"."""


class Namespaces:
    """Puts this process's children into new Linux namespaces. `are_there`: whether the kernel allows this."""

    def __init__(self, without: Collection[str]) -> None:
        self.are_there = False
        machine = filter.machine()
        if machine is None or "namespaces" in without:
            return
        library = sysconfig.get_paths()["stdlib"]
        for flags in (0, kernel.CLONE_NEWUSER) if os.getuid() == 0 else (kernel.CLONE_NEWUSER,):

            def enter(flags: int = flags) -> None:
                enter_processes(flags)
                kernel.unshare(OF_HOST | kernel.CLONE_NEWNET)
                kernel.enter_empty_root(machine, [library])

            if kernel.tried(enter) is None:
                enter_processes(flags)
                self.are_there = True
                return


def enter_processes(flags: int) -> None:
    """Makes the next forked process the first one of a namespace of process ids.

    When that process ends, the kernel ends all others in the namespace.
    """
    uid, gid = os.getuid(), os.getgid()
    kernel.unshare(kernel.CLONE_NEWPID | flags)
    if flags:
        kernel.map_own_ids(uid, gid)


class Walls:
    """Isolation of a host: `enter` restricts the host's process, and `lock_worker` restricts a worker further."""

    def __init__(self, asked: Asked, namespaces: Namespaces) -> None:
        machine = filter.machine()
        if machine is None:
            raise RefusedError(f"there is no list of system calls for {os.uname().machine}")
        self._machine = machine
        self._asked = asked
        self._namespaces = namespaces.are_there
        self._landlock = 0 if "landlock" in asked.without else kernel.landlock_version()
        if self._landlock == 0 and not self._namespaces:
            raise RefusedError("neither Landlock (Linux 5.13) nor namespaces isolate code on this kernel: enable one")
        self._memory_bytes = asked.memory_mib * MiB
        self._places = places_of(asked)
        self._pages = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
        self._null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        network = asked.network
        self._strict = kernel.make_filter(filter.program(machine, threads=False, network=network))
        self._parent = kernel.make_filter(filter.program(machine, threads=False, network=network, children=True))
        self._loader = kernel.make_filter(filter.program(machine, network=network, children=True, loads=True))

    def enter(self) -> None:
        """Restricts this process and all processes that it starts."""
        readable, listable = self._places.readable, self._places.listable
        if self._namespaces:
            kernel.unshare(OF_HOST | (0 if self._asked.network else kernel.CLONE_NEWNET))
            kernel.enter_empty_root(self._machine, readable, listable)
        with contextlib.suppress(OSError):
            kernel.drop_capabilities(self._machine)
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if self._landlock > 0:
            rules = kernel.make_file_rules(self._landlock, readable, self._asked.network, listable)
            kernel.restrict_files(rules)
            os.close(rules)
        kernel.install_filter(self._loader)
        without_caches()
        # Change into the mounted file's folder, or else into the start folder, because code may open files by relative
        # names.
        for folder in (self._asked.own, self._asked.start_folder, "/"):
            with contextlib.suppress(OSError):
                if folder:
                    return os.chdir(folder)
        return None

    def lock_worker(self, *, forks: bool = False) -> None:
        """Isolates a forked process further, and connects stdin, stdout and stderr to /dev/null.

        `forks`: whether the process may fork processes that do its work.
        """
        for stream in (0, 1, 2):
            os.dup2(self._null, stream)
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
        pages = int(os.pread(self._pages, 100, 0).split()[0])
        memory = pages * os.sysconf("SC_PAGE_SIZE") + self._memory_bytes
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES_MAX, OPEN_FILES_MAX))
        # Forbid writing to files only now, because the host's own errors before this may go to a file.
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        kernel.install_filter(self._parent if forks else self._strict)

    def has_room(self, share: float) -> bool:
        """Returns whether this share of a worker's memory is still free."""
        try:
            mmap.mmap(-1, int(share * self._memory_bytes), flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ).close()
        except OSError:
            return False
        return True

    def end_with_parent(self) -> None:
        """Makes the kernel end this process when its parent ends."""
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)

    def lock_alone(self) -> None:
        """Isolates a process that a worker forked. The process can fork none itself."""
        self.end_with_parent()
        kernel.install_filter(self._strict)

    def in_words(self) -> str:
        """Returns the isolation in use as text for the operator, e.g. "seccomp, Landlock 4, no network; …"."""
        parts = ["seccomp"]
        if self._landlock:
            parts.append(f"Landlock {self._landlock}")
        if self._namespaces:
            parts.append("namespaces")
        parts.append("the whole network" if self._asked.network else "no network")
        return f"{', '.join(parts)}; {self._memory_bytes // MiB} MiB for each worker"


def without_caches() -> None:
    """Lets matplotlib work without a folder for its caches.

    Otherwise the import of matplotlib fails, because no folder is writable.
    """
    folder = sysconfig.get_paths()["stdlib"]
    may = os.access

    def access(path: Any, mode: int, **options: Any) -> bool:
        return (mode == os.W_OK and str(path) == folder) or may(path, mode, **options)

    os.environ["MPLCONFIGDIR"] = folder
    os.access = access


def places_of(asked: Asked) -> Places:
    """Returns all that a host may read. Raises RefusedError if a path that it needs lies among the server's secrets."""
    hidden = [Path(path) for path in asked.hidden]
    start = Path(asked.start_folder) if asked.start_folder else None
    places = Places(hidden)
    if asked.own is not None:
        if asked.own == Path("/"):
            raise RefusedError("it lies in the root folder, which would show all files: move it to a folder of its own")
        own = Places([*hidden, *dotted(asked.own)] if asked.own == home() else hidden)
        own.show(asked.own, "it")
        places.join(own)
    for path in asked.read:
        places.show(Path(path), f"--allow read={path}")
    packages = Places(hidden, start)
    for folder in [*package_folders(), *SYSTEM, *(RESOLVING if asked.network else ())]:
        packages.show(Path(folder))
    places.join(packages)
    if asked.own is None and start is not None:
        # Make this folder visible, but empty, because paths in an adapter's target may be relative to it.
        places.listable.append(str(start))
    return places


def home() -> Path:
    """Returns the user's home folder."""
    return Path(os.path.expanduser("~")).resolve()


def dotted(folder: Path) -> list[Path]:
    """Returns the paths in a home folder that begin with a dot, where programs keep keys, tokens and settings."""
    return [path for path in folder.iterdir() if path.name.startswith(".")]


def package_folders() -> list[str]:
    """Returns the folders of Python and its packages."""
    paths = {*sysconfig.get_paths().values(), sys.prefix, sys.base_prefix, sys.exec_prefix}
    own = str(Path(__file__).resolve().parents[2])
    return sorted({os.path.abspath(path) for path in [*paths, *sys.path, own] if path} - {"/", os.path.expanduser("~")})
