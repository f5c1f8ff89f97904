"""Calls the Linux kernel through ctypes to isolate this process, without privileges and irrevocably."""

import ctypes
import os
import struct
from collections.abc import Callable, Sequence

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
SECCOMP_MODE_FILTER = 2

LANDLOCK_CREATE_RULESET = 444
LANDLOCK_ADD_RULE = 445
LANDLOCK_RESTRICT_SELF = 446
LANDLOCK_CREATE_RULESET_VERSION = 1
LANDLOCK_RULE_PATH_BENEATH = 1
READ_FILE = 1 << 2
LIST_FOLDER = 1 << 3
ALL_TCP = 0b11
ALL_SCOPES = 0b11
# For each version of Landlock (the kernel's file access control): the version, its number of access rights, and its
# number of fields in struct landlock_ruleset_attr.
LANDLOCK_VERSIONS = (
    (1, 13, 1),
    (2, 14, 1),
    (3, 15, 1),
    (4, 15, 2),
    (5, 16, 2),
    (6, 16, 3),
)

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2
# Folder at which the old root folder is visible while the new root is being filled.
FORMER_ROOT = "/former"
# Flags that a new mount keeps from the mount whose file or folder it shows: MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC,
# MS_NOATIME and MS_NODIRATIME. They have the same values in statvfs.
KEPT_FLAGS = 1 | 2 | 4 | 8 | 1024 | 2048

SECCOMP = {"x86_64": 317, "aarch64": 277}
SECCOMP_SET_MODE_FILTER = 1
SECCOMP_FILTER_FLAG_NEW_LISTENER = 8
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
CAPSET = {"x86_64": 126, "aarch64": 91}
CAPABILITY_VERSION_3 = 0x20080522


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def prctl(option: int, value: int) -> None:
    """Sets an attribute of this process by the system call prctl."""
    _checked(libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0), f"prctl {option}")


class Filter(ctypes.Structure):
    """The kernel's struct sock_fprog: a seccomp filter's length and code."""

    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]


def make_filter(code: bytes) -> Filter:
    """Returns a seccomp filter that is ready to be installed."""
    return Filter(len(code) // 8, code)


def install_filter(made: Filter) -> None:
    """Limits this process irrevocably to the system calls that the filter allows. Needs PR_SET_NO_NEW_PRIVS."""
    _checked(
        libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(made), 0, 0),
        "seccomp",
    )


def install_listener(machine: str, made: Filter) -> int:
    """Installs a filter that pauses some system calls. Returns the descriptor from which they are read and answered.

    Needs PR_SET_NO_NEW_PRIVS and Linux 5.5. Fails if this process already has a filter that pauses system calls.
    """
    flags = SECCOMP_FILTER_FLAG_NEW_LISTENER
    return _checked(
        libc.syscall(SECCOMP[machine], SECCOMP_SET_MODE_FILTER, flags, ctypes.byref(made)),
        "a listener of seccomp",
    )


def landlock_version() -> int:
    """Returns the version of Landlock that the kernel supports; 0 if it supports none."""
    return max(
        0,
        int(libc.syscall(LANDLOCK_CREATE_RULESET, None, 0, LANDLOCK_CREATE_RULESET_VERSION)),
    )


def make_file_rules(version: int, readable: Sequence[str], network: bool = False, listable: Sequence[str] = ()) -> int:
    """Makes Landlock rules that allow reading these folders and files only. Returns the rules' descriptor.

    In folders of `listable`, only the names of files can be read. All else that this version of Landlock can deny is
    denied, e.g. TCP and signals to other processes; `network` allows TCP.
    """
    _, kinds, fields = max(entry for entry in LANDLOCK_VERSIONS if entry[0] <= version)
    tcp = 0 if network else ALL_TCP
    attributes = struct.pack("=QQQ", (1 << kinds) - 1, tcp, ALL_SCOPES)[: 8 * fields]
    rules = _checked(
        libc.syscall(LANDLOCK_CREATE_RULESET, attributes, len(attributes), 0),
        "landlock",
    )
    for path in [*readable, *listable]:
        try:
            handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        of_folder = LIST_FOLDER if path in listable else READ_FILE | LIST_FOLDER
        rule = struct.pack("=Qi", of_folder if os.path.isdir(path) else READ_FILE, handle)
        _checked(
            libc.syscall(LANDLOCK_ADD_RULE, rules, LANDLOCK_RULE_PATH_BENEATH, rule, 0),
            "landlock",
        )
        os.close(handle)
    return rules


def restrict_files(rules: int) -> None:
    """Restricts this process and its children irrevocably to these file rules. Needs PR_SET_NO_NEW_PRIVS."""
    _checked(libc.syscall(LANDLOCK_RESTRICT_SELF, rules, 0), "landlock")


def tried(step: Callable[[], None]) -> str | None:
    """Tries a step of isolation in a forked process. Returns why it failed; None if it succeeded."""
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


def unshare(flags: int) -> None:
    """Moves this process into new namespaces. A new namespace of process ids holds only its children, not itself."""
    _checked(libc.unshare(flags), "unshare")


def map_own_ids(uid: int, gid: int) -> None:
    """Maps only this user and this group into a new user namespace."""
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{uid} {uid} 1"),
        ("gid_map", f"{gid} {gid} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def enter_empty_root(machine: str, readable: Sequence[str], empty: Sequence[str] = ()) -> None:
    """Replaces the root folder by one with only these folders and files, read-only. Needs a mount namespace.

    Each folder of `empty` also exists, but shows only the readable paths within it. Where a path is a symbolic link,
    the file or folder that it leads to appears instead.
    """
    sources = [(path, os.path.realpath(path)) for path in sorted(readable) if os.path.lexists(path)]
    _mount(None, "/", None, MS_REC | MS_PRIVATE)
    place = "/tmp" if os.path.isdir("/tmp") else "/"
    _mount("tmpfs", place, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755")
    os.chdir(place)
    os.mkdir(FORMER_ROOT[1:])
    _checked(libc.syscall(PIVOT_ROOT[machine], b".", FORMER_ROOT[1:].encode()), "pivot_root")
    os.chdir("/")
    for folder in empty:
        os.makedirs(folder, exist_ok=True)
    for path, source in sources:
        _show(path, source)
    _checked(libc.umount2(FORMER_ROOT.encode(), MNT_DETACH), "umount")
    os.rmdir(FORMER_ROOT)
    _mount(None, "/", None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)


def _show(path: str, source: str) -> None:
    """Makes a file or folder of the old root visible in the new root, at `path`, for reading only."""
    former = FORMER_ROOT + source
    if os.path.lexists(path) and not os.path.isdir(path):
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.isdir(former):
        os.makedirs(path, exist_ok=True)
    else:
        open(path, "x").close()
    _mount(former, path, None, MS_BIND | MS_REC)
    # The new mount must keep the restrictions of the old one (e.g. read-only), or the kernel refuses.
    kept = os.statvfs(path).f_flag & KEPT_FLAGS
    _mount(None, path, None, MS_BIND | MS_REMOUNT | MS_RDONLY | kept)


def _mount(
    source: str | None,
    target: str,
    kind: str | None,
    flags: int,
    options: str | None = None,
) -> None:
    texts = [text.encode() if text is not None else None for text in (source, target, kind)]
    last = options.encode() if options is not None else None
    _checked(libc.mount(*texts, ctypes.c_ulong(flags), last), f"mount {target}")


def drop_capabilities(machine: str) -> None:
    """Gives up all Linux capabilities, which only privileged users have."""
    header = struct.pack("=Ii", CAPABILITY_VERSION_3, 0)
    _checked(libc.syscall(CAPSET[machine], header, bytes(24)), "capset")
