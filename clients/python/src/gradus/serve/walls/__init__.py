"""What a host and its workers are locked in by: the same calls of the kernel as the server's sandbox for programs.

kernel.py and filter.py are links to the sandbox's own. What holds, from the moment before anything is imported that is
mounted: no file can be written, none be read but Python, its packages, the mounted file's own folder and what was
allowed by name, and no address be reached. What holds beyond that in a worker: it makes only the calls of the kernel
that are on a list, starts no process and no thread, and has so much memory.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import resource
import signal
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from gradus.serve.walls import filter, kernel

MiB = 1024**2
OPEN_FILES_MAX = 256

# Shared libraries, and what the C library reads.
SYSTEM = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share/zoneinfo", "/etc/ld.so.cache"]
SYSTEM += ["/etc/localtime", "/dev/null", "/dev/urandom"]
# What finding another machine by its name takes, and certificates.
RESOLVING = ["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/services"]
RESOLVING += ["/etc/ssl", "/etc/pki", "/usr/share/ca-certificates", "/usr/local/share/ca-certificates", "/run/systemd"]


class RefusedError(Exception):
    """This kernel does not give what locking in takes."""


class Walls:
    """Of a host: `enter` locks it in, `lock_worker` a process that it forked."""

    def __init__(self, *, own: Path | None, read: Sequence[str], network: bool, memory_mib: int) -> None:
        machine = filter.machine()
        if machine is None:
            raise RefusedError(f"there is no list of system calls for {os.uname().machine}")
        self._version = kernel.landlock_version()
        if self._version == 0:
            raise RefusedError("this kernel has no Landlock (Linux 5.13 and newer, where it is not turned off)")
        self._network = network
        self._memory_bytes = memory_mib * MiB
        self._readable = [*package_folders(), *SYSTEM, *(RESOLVING if network else ()), *read]
        if own is not None:
            self._readable.append(str(own))
        self._machine = machine
        self._pages = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
        self._null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        self._namespace = False
        self._strict = kernel.make_filter(filter.program(machine, threads=False, network=network))
        self._parent = kernel.make_filter(filter.program(machine, threads=False, network=network, children=True))

    def enter(self) -> None:
        """From here on, for this process and all that it starts."""
        if not self._network:
            # Landlock denies TCP alone; where no namespace is given, workers' filters deny all else.
            with contextlib.suppress(OSError):
                kernel.unshare(kernel.CLONE_NEWNET | (0 if os.getuid() == 0 else kernel.CLONE_NEWUSER))
                self._namespace = True
        with contextlib.suppress(OSError):
            kernel.drop_capabilities(self._machine)
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        rules = kernel.make_file_rules(self._version, self._readable, self._network)
        kernel.restrict_files(rules)
        os.close(rules)

    def lock_worker(self, *, forks: bool = False) -> None:
        """For a process that was forked, once its streams are in place; `forks`: it has others do the work."""
        for stream in (0, 1, 2):
            os.dup2(self._null, stream)
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
        pages = int(os.pread(self._pages, 100, 0).split()[0])
        memory = pages * os.sysconf("SC_PAGE_SIZE") + self._memory_bytes
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES_MAX, OPEN_FILES_MAX))
        # Not sooner: the host's own errors may go to a file.
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        kernel.install_filter(self._parent if forks else self._strict)

    def has_room(self, share: float) -> bool:
        """Whether so much of a worker's memory is free yet."""
        try:
            mmap.mmap(-1, int(share * self._memory_bytes), flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ).close()
        except OSError:
            return False
        return True

    def lock_alone(self) -> None:
        """For a process that a worker forked: it forks none."""
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        kernel.install_filter(self._strict)

    def in_words(self) -> str:
        """For the operator."""
        network = "a network" if self._network else "no network"
        return (
            f"seccomp, Landlock {self._version}, {network}{' (a namespace of its own)' if self._namespace else ''}; "
            f"{self._memory_bytes // MiB} MiB for each worker"
        )


def package_folders() -> list[str]:
    """Where Python and its packages are."""
    paths = {*sysconfig.get_paths().values(), sys.prefix, sys.base_prefix, sys.exec_prefix}
    own = str(Path(__file__).resolve().parents[2])
    return sorted({os.path.abspath(path) for path in [*paths, *sys.path, own] if path} - {"/", os.path.expanduser("~")})
