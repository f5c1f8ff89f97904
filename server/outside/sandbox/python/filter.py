"""Builds seccomp filters, which say what system calls a program may make, as classic BPF code.

The filter allows the system calls that CPython needs once it runs. Other calls fail with EPERM, so that a program sees
a PermissionError. Calls that Linux has only since version 5.1 fail with ENOSYS instead, so that the C library uses
older ones.
"""

import errno
import platform
import struct
from collections.abc import Sequence

# Numbers of the processor architectures, from linux/audit.h.
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# BPF opcodes from linux/bpf_common.h: load a word, jump on a constant, and return the verdict.
LOAD = 0x20
JUMP = 0x05
JUMP_EQUAL = 0x15
JUMP_GREATER_OR_EQUAL = 0x35
JUMP_ANY_BIT = 0x45
AND = 0x54
RETURN = 0x06

ALLOW = 0x7FFF0000
ASK = 0x7FC00000
KILL_PROCESS = 0x80000000

# Byte offsets of the fields of struct seccomp_data.
NUMBER = 0
ARCHITECTURE = 4

# Bit that is set in the numbers of system calls of the x32 interface, which is refused.
X32_BIT = 0x40000000

# First number of the system calls since Linux 5.1, which are numbered alike on all architectures.
FIRST_NEW_CALL = 424
CLONE3 = 435
FACCESSAT2 = 439

# Flags of clone with which glibc and musl start a thread (musl adds the obsolete CLONE_DETACHED). Starting a process
# takes other flags, which are refused unless FORK_FLAGS are allowed.
THREAD_FLAGS = (0x3D0F00, 0x7D0F00)

# Flags of open that create or change a file: O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND and O_TMPFILE.
WRITING_FLAGS = 0o1 | 0o2 | 0o100 | 0o1000 | 0o2000 | 0o20000000

# Allowed commands of fcntl: F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC. F_SETPIPE_SZ, F_ADD_SEALS, F_NOTIFY
# and locks are refused.
HARMLESS_FCNTL = (0, 1, 2, 3, 1030)

# Allowed commands of ioctl: TCGETS (is it a terminal?), FIOCLEX, FIONREAD, FIONBIO.
HARMLESS_IOCTL = (0x5401, 0x5451, 0x541B, 0x5421)

AF_UNIX = 1
AF_INET, AF_INET6 = 2, 10
SOCK_STREAM, SOCK_TYPE_MASK = 1, 0xF

# Allowed options of prctl: PR_SET_DUMPABLE, PR_GET_NAME and PR_SET_NAME, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, and
# PR_SET_VMA, which names memory.
HARMLESS_PRCTL = (4, 15, 16, 22, 38, 0x53564D41)
PR_SET_PDEATHSIG = 1
SIGKILL = 9

# Socket option that returns a descriptor by which signals can be sent to the process at the other end. It is refused.
SO_PEERPIDFD = 77

# System calls that are always allowed, with their numbers on x86_64 and aarch64. None: the architecture does not have
# the call.
ALWAYS: dict[str, tuple[int | None, int | None]] = {
    "read": (0, 63),
    "write": (1, 64),
    "futex": (202, 98),
    "mmap": (9, 222),
    "munmap": (11, 215),
    "brk": (12, 214),
    "mprotect": (10, 226),
    "madvise": (28, 233),
    "mremap": (25, 216),
    "rt_sigprocmask": (14, 135),
    "rt_sigaction": (13, 134),
    "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132),
    "close": (3, 57),
    "fstat": (5, 80),
    "stat": (4, None),
    "lstat": (6, None),
    "newfstatat": (262, 79),
    "statx": (332, 291),
    "lseek": (8, 62),
    "pread64": (17, 67),
    "readv": (19, 65),
    "writev": (20, 66),
    "getdents64": (217, 61),
    "access": (21, None),
    "faccessat": (269, 48),
    "faccessat2": (FACCESSAT2, FACCESSAT2),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "getcwd": (79, 17),
    "dup": (32, 23),
    "dup2": (33, None),
    "dup3": (292, 24),
    "poll": (7, None),
    "ppoll": (271, 73),
    "select": (23, None),
    "pselect6": (270, 72),
    "nanosleep": (35, 101),
    "clock_nanosleep": (230, 115),
    "restart_syscall": (219, 128),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "gettimeofday": (96, 169),
    "time": (201, None),
    "times": (100, 153),
    "getrusage": (98, 165),
    "getrlimit": (97, 163),
    "getitimer": (36, 102),
    "setitimer": (38, 103),
    "alarm": (37, None),
    "pause": (34, None),
    "getrandom": (318, 278),
    "getpid": (39, 172),
    "getppid": (110, 173),
    "gettid": (186, 178),
    "getuid": (102, 174),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getegid": (108, 177),
    "uname": (63, 160),
    "sched_getaffinity": (204, 123),
    "getcpu": (309, 168),
    "membarrier": (324, 283),
    "set_robust_list": (273, 99),
    "get_robust_list": (274, 100),
    "set_tid_address": (218, 96),
    "rseq": (334, 293),
    # Calls of asyncio's event loop, which wakes itself by a pair of sockets.
    "epoll_create1": (291, 20),
    "epoll_ctl": (233, 21),
    "epoll_wait": (232, None),
    "epoll_pwait": (281, 22),
    "recvfrom": (45, 207),
    "exit": (60, 93),
    "exit_group": (231, 94),
}

# System calls that are allowed only for some values of one of their arguments, with their numbers on x86_64 and
# aarch64.
OPEN = (2, None)
OPENAT = (257, 56)
CLONE = (56, 220)
FCNTL = (72, 25)
IOCTL = (16, 29)
PRLIMIT64 = (302, 261)
SOCKETPAIR = (53, 199)
SENDTO = (44, 206)
SCHED_YIELD = (24, 124)

# Further system calls for a process that starts child processes and waits for them. The children isolate themselves
# further. FORK_FLAGS are the flags that glibc's and musl's fork pass to clone.
FORK_FLAGS = (0x1200011, 0x11)
PARENT: dict[str, tuple[int | None, int | None]] = {
    "wait4": (61, 260),
    "pipe2": (293, 59),
    "sendmsg": (46, 211),
    "recvmsg": (47, 212),
}
PRCTL = (157, 167)

# Further system calls that importing packages needs. None of them affects another process.
LOADER: dict[str, tuple[int | None, int | None]] = {
    "pidfd_open": (434, 434),
    "fstatfs": (138, 44),
    "statfs": (137, 43),
    "sysinfo": (99, 179),
    "getgroups": (115, 158),
    "getpgrp": (111, None),
    "getpgid": (121, 155),
    "getsid": (124, 156),
    "getresuid": (118, 148),
    "getresgid": (120, 150),
    "getpriority": (140, 141),
    "sched_getparam": (143, 121),
    "sched_getscheduler": (145, 120),
    "sched_get_priority_max": (146, 125),
    "sched_get_priority_min": (147, 126),
    "get_mempolicy": (239, 236),
    "fadvise64": (221, 223),
    "mincore": (27, 232),
    "msync": (26, 227),
    "mlock": (149, 228),
    "munlock": (150, 229),
    "readahead": (187, 213),
    "preadv": (295, 69),
    "chdir": (80, 49),
    "fchdir": (81, 50),
    "umask": (95, 166),
    "eventfd2": (290, 19),
    "timerfd_create": (283, 85),
    "timerfd_settime": (286, 86),
    "rt_sigpending": (127, 136),
    "rt_sigtimedwait": (128, 137),
    "pipe": (22, None),
    "capget": (125, 90),
}

# Further system calls for network access.
NETWORK: dict[str, tuple[int | None, int | None]] = {
    "connect": (42, 203),
    "bind": (49, 200),
    "sendto": (44, 206),
    "sendmsg": (46, 211),
    "recvmsg": (47, 212),
    "sendmmsg": (307, 269),
    "getsockname": (51, 204),
    "getpeername": (52, 205),
    "setsockopt": (54, 208),
    "shutdown": (48, 210),
}

SOCKET = (41, 198)
GETSOCKOPT = (55, 209)

Instruction = tuple[int, int, int, int]


def machine() -> str | None:
    """Returns the name of this machine's processor architecture; None if no filter can be built for it."""
    name = platform.machine()
    return name if name in ARCHITECTURES else None


def program(
    name: str, *, threads: bool = True, network: bool = False, children: bool = False, loads: bool = False
) -> bytes:
    """Returns the filter for an architecture. Threads are allowed by default; network access and new processes are not.

    `network` allows IPv4 and IPv6 sockets. `children` allows fork. `loads` allows the system calls that importing
    packages needs.
    """
    column = list(ARCHITECTURES).index(name)
    more = (NETWORK if network else {}) | (PARENT if children else {}) | (LOADER if loads else {})
    clones = (THREAD_FLAGS if threads else ()) + (FORK_FLAGS if children else ())
    rules = {numbers[column]: [_verdict(ALLOW)] for numbers in ALWAYS.values()} | {
        OPENAT[column]: _unless_any_bit(2, WRITING_FLAGS),
        OPEN[column]: _unless_any_bit(1, WRITING_FLAGS),
        CLONE[column]: _if_one_of(0, clones),
        FCNTL[column]: _if_one_of(1, HARMLESS_FCNTL),
        IOCTL[column]: _if_one_of(1, HARMLESS_IOCTL),
        # With a null pointer as the new limits, prlimit64 only reads the limits.
        PRLIMIT64[column]: _if_null(2),
        SOCKETPAIR[column]: _connected_pair(),
        # Without an address, sendto can only send to the other end of a connected pair.
        SENDTO[column]: _if_null(4),
        # Let sched_yield succeed without effect. A program that really gave up the processor would wait for its next
        # turn without being charged processor time.
        SCHED_YIELD[column]: [_error(0)],
    }
    rules |= {numbers[column]: [_verdict(ALLOW)] for numbers in more.values()}
    if network:
        rules[SOCKET[column]] = _if_one_of(0, (AF_INET, AF_INET6))
        rules[GETSOCKOPT[column]] = _unless_one_of(2, (SO_PEERPIDFD,))
    if children:
        rules[PRCTL[column]] = _harmless_prctl()
    if loads:
        # Process id 0 is the process itself.
        rules[PRLIMIT64[column]] = _if_one_of(0, (0,))
    return _packed(
        [
            (LOAD, 0, 0, ARCHITECTURE),
            (JUMP_EQUAL, 1, 0, ARCHITECTURES[name]),
            _verdict(KILL_PROCESS),
            (LOAD, 0, 0, NUMBER),
            *_search(_ranges({number: block for number, block in rules.items() if number is not None})),
        ]
    )


def asking_for_threads(name: str) -> bytes:
    """Returns a second filter, which pauses each new thread until a listener decides about it. All other calls pass."""
    column = list(ARCHITECTURES).index(name)
    ask = [instruction for flags in THREAD_FLAGS for instruction in ((JUMP_EQUAL, 0, 1, flags), _verdict(ASK))]
    return _packed(
        [
            (LOAD, 0, 0, ARCHITECTURE),
            (JUMP_EQUAL, 1, 0, ARCHITECTURES[name]),
            _verdict(ALLOW),
            (LOAD, 0, 0, NUMBER),
            (JUMP_EQUAL, 1, 0, CLONE[column]),
            _verdict(ALLOW),
            _low(0),
            *ask,
            _verdict(ALLOW),
        ]
    )


def _packed(code: Sequence[Instruction]) -> bytes:
    """Returns the instructions as an array of struct sock_filter."""
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


Ranges = list[tuple[int, list[Instruction]]]


def _ranges(rules: dict[int, list[Instruction]]) -> Ranges:
    """Groups consecutive system call numbers with equal instructions into ranges.

    Each range has its first number and its instructions.
    """
    ranges: Ranges = [(0, [_error(errno.EPERM)])]
    for number in sorted({0, FIRST_NEW_CALL, X32_BIT, *rules, *(number + 1 for number in rules)}):
        otherwise = [_error(errno.EPERM if number < FIRST_NEW_CALL else errno.ENOSYS)]
        block = [_verdict(KILL_PROCESS)] if number >= X32_BIT else rules.get(number, otherwise)
        if block != ranges[-1][1]:
            ranges.append((number, block))
    return ranges


def _search(ranges: Ranges) -> list[Instruction]:
    """Returns code that finds the range of a system call number by binary search.

    Speed matters, because the kernel runs a new filter once for each call number.
    """
    if len(ranges) == 1:
        return ranges[0][1]
    middle = len(ranges) // 2
    lower, upper = _search(ranges[:middle]), _search(ranges[middle:])
    return [
        (JUMP_GREATER_OR_EQUAL, 0, 1, ranges[middle][0]),
        (JUMP, 0, 0, len(lower)),
        *lower,
        *upper,
    ]


def _verdict(value: int) -> Instruction:
    return (RETURN, 0, 0, value)


def _error(number: int) -> Instruction:
    return (RETURN, 0, 0, 0x00050000 | number)


def _low(argument: int) -> Instruction:
    """Returns the instruction that loads the low 32 bits of a system call's argument, on both architectures."""
    return (LOAD, 0, 0, 16 + 8 * argument)


def _high(argument: int) -> Instruction:
    return (LOAD, 0, 0, 20 + 8 * argument)


def _if_one_of(argument: int, values: Sequence[int]) -> list[Instruction]:
    """Returns code that allows a system call only if an argument is one of `values`.

    The kernel reads that argument as a 32-bit int, so its high 32 bits are ignored.
    """
    code = [_low(argument)]
    for value in values:
        code += [(JUMP_EQUAL, 0, 1, value), _verdict(ALLOW)]
    return [*code, _error(errno.EPERM)]


def _unless_one_of(argument: int, values: Sequence[int]) -> list[Instruction]:
    code = [_low(argument)]
    for value in values:
        code += [(JUMP_EQUAL, 0, 1, value), _error(errno.EPERM)]
    return [*code, _verdict(ALLOW)]


def _connected_pair() -> list[Instruction]:
    """Returns code that allows socketpair for stream sockets only.

    A program could connect a socket of another type to a socket of another process.
    """
    is_stream = [_low(1), (AND, 0, 0, SOCK_TYPE_MASK), (JUMP_EQUAL, 1, 0, SOCK_STREAM), _error(errno.EPERM)]
    return [*is_stream, *_if_one_of(0, (AF_UNIX,))]


def _harmless_prctl() -> list[Instruction]:
    """Returns code that allows prctl with a few harmless options.

    With PR_SET_PDEATHSIG, a program may ask to be killed when its parent ends, but may not withdraw that request.
    """
    return [
        _low(0),
        (JUMP_EQUAL, 0, 4, PR_SET_PDEATHSIG),
        _low(1),
        (JUMP_EQUAL, 1, 0, SIGKILL),
        _error(errno.EPERM),
        _verdict(ALLOW),
        *_if_one_of(0, HARMLESS_PRCTL),
    ]


def _unless_any_bit(argument: int, bits: int) -> list[Instruction]:
    return [
        _low(argument),
        (JUMP_ANY_BIT, 0, 1, bits),
        _error(errno.EACCES),
        _verdict(ALLOW),
    ]


def _if_null(argument: int) -> list[Instruction]:
    return [
        _low(argument),
        (JUMP_EQUAL, 0, 3, 0),
        _high(argument),
        (JUMP_EQUAL, 0, 1, 0),
        _verdict(ALLOW),
        _error(errno.EPERM),
    ]
