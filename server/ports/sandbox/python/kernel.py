"""What the kernel is asked for, by ctypes: limits that hold without privileges and cannot be taken back."""

import ctypes
import os
import struct
from collections.abc import Sequence

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_SET_NO_NEW_PRIVS = 38
SECCOMP_MODE_FILTER = 2

LANDLOCK_CREATE_RULESET = 444
LANDLOCK_ADD_RULE = 445
LANDLOCK_RESTRICT_SELF = 446
LANDLOCK_CREATE_RULESET_VERSION = 1
LANDLOCK_RULE_PATH_BENEATH = 1
READ_FILE = 1 << 2
READ_FILE_AND_FOLDER = READ_FILE | 1 << 3
ALL_TCP = 0b11
ALL_SCOPES = 0b11
# Since which version: kinds of access to files that are known, and fields of struct landlock_ruleset_attr.
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
# MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_NOATIME and MS_NODIRATIME, which statvfs calls alike.
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
    """Sets an attribute of this process."""
    _checked(libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0), f"prctl {option}")


class Filter(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]


def make_filter(code: bytes) -> Filter:
    """A seccomp filter, ready to be installed."""
    return Filter(len(code) // 8, code)


def install_filter(made: Filter) -> None:
    """From here on this process makes no other system calls. Needs PR_SET_NO_NEW_PRIVS."""
    _checked(
        libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(made), 0, 0),
        "seccomp",
    )


def install_listener(machine: str, made: Filter) -> int:
    """A filter that asks: the descriptor by which this process hears what its children ask, and answers.

    Needs PR_SET_NO_NEW_PRIVS, and a kernel since 5.5, where nobody listens yet.
    """
    flags = SECCOMP_FILTER_FLAG_NEW_LISTENER
    return _checked(
        libc.syscall(SECCOMP[machine], SECCOMP_SET_MODE_FILTER, flags, ctypes.byref(made)),
        "a listener of seccomp",
    )


def landlock_version() -> int:
    """What the kernel's Landlock can do; 0: there is none."""
    return max(
        0,
        int(libc.syscall(LANDLOCK_CREATE_RULESET, None, 0, LANDLOCK_CREATE_RULESET_VERSION)),
    )


def make_file_rules(version: int, readable: Sequence[str], network: bool = False) -> int:
    """Rules that leave nothing of the file system but reading these folders and files: a descriptor of them.

    Other things that this version of Landlock can deny, such as TCP and signals to others, are denied altogether;
    TCP is not where there is to be a network.
    """
    _, kinds, fields = max(entry for entry in LANDLOCK_VERSIONS if entry[0] <= version)
    tcp = 0 if network else ALL_TCP
    attributes = struct.pack("=QQQ", (1 << kinds) - 1, tcp, ALL_SCOPES)[: 8 * fields]
    rules = _checked(
        libc.syscall(LANDLOCK_CREATE_RULESET, attributes, len(attributes), 0),
        "landlock",
    )
    for folder in readable:
        try:
            handle = os.open(folder, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        rule = struct.pack("=Qi", READ_FILE_AND_FOLDER if os.path.isdir(folder) else READ_FILE, handle)
        _checked(
            libc.syscall(LANDLOCK_ADD_RULE, rules, LANDLOCK_RULE_PATH_BENEATH, rule, 0),
            "landlock",
        )
        os.close(handle)
    return rules


def restrict_files(rules: int) -> None:
    """Holds this process and its children to them. Needs PR_SET_NO_NEW_PRIVS."""
    _checked(libc.syscall(LANDLOCK_RESTRICT_SELF, rules, 0), "landlock")


def unshare(flags: int) -> None:
    """Gives this process namespaces of its own; of process ids, its children."""
    _checked(libc.unshare(flags), "unshare")


def map_own_ids(uid: int, gid: int) -> None:
    """In a new user namespace: this user and group, and no others."""
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{uid} {uid} 1"),
        ("gid_map", f"{gid} {gid} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def enter_empty_root(machine: str, readable: Sequence[str]) -> None:
    """Leaves nothing of the file system but these folders, to read. Needs a mount namespace."""
    _mount(None, "/", None, MS_REC | MS_PRIVATE)
    place = "/tmp" if os.path.isdir("/tmp") else "/"
    _mount("tmpfs", place, "tmpfs", MS_NOSUID | MS_NODEV, "size=256k,mode=755")
    os.chdir(place)
    for folder in readable:
        target = place.rstrip("/") + folder
        if not os.path.isdir(folder):
            continue
        os.makedirs(target, exist_ok=True)
        _mount(folder, target, None, MS_BIND | MS_REC)
        # What the mount forbids already it must go on forbidding, or the kernel refuses.
        _mount(
            None,
            target,
            None,
            MS_BIND | MS_REMOUNT | MS_RDONLY | os.statvfs(target).f_flag & KEPT_FLAGS,
        )
    _checked(libc.syscall(PIVOT_ROOT[machine], b".", b"."), "pivot_root")
    _checked(libc.umount2(b".", MNT_DETACH), "umount")
    os.chdir("/")
    _mount(None, "/", None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)


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
    """Gives up all rights that are not a plain user's."""
    header = struct.pack("=Ii", CAPABILITY_VERSION_3, 0)
    _checked(libc.syscall(CAPSET[machine], header, bytes(24)), "capset")
