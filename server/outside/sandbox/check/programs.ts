/**
 * Hostile programs of `gradus sandbox check`: one for each kind of attack that the sandbox stops.
 * Tests have many more.
 */
import { exceeding, forging, type Hostile, reaching } from "./hostile.ts";

/**
 * Program that calls every forbidden system call, with invalid arguments. The filter refuses with EPERM, EACCES or
 * ENOSYS; any other error shows that the call reached the kernel.
 *
 * Call numbers are listed for x86_64 and aarch64.
 */
const FORBIDDEN = String.raw`
import platform
CALLS = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "execve": (59, 221), "execveat": (322, 281), "bpf": (321, 280), "userfaultfd": (323, 282),
    "perf_event_open": (298, 241), "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "setns": (308, 268),
    "unshare": (272, 97), "init_module": (175, 105), "kexec_load": (246, 104), "reboot": (169, 142),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "seccomp": (317, 277), "prctl": (157, 167),
    "personality": (135, 92), "setrlimit": (160, 164), "setpriority": (141, 140), "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119), "ioprio_set": (251, 30), "mlock": (149, 228), "mlockall": (151, 230),
    "shmget": (29, 194), "shmat": (30, 196), "semget": (64, 190), "msgget": (68, 186), "mq_open": (240, 180),
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "remap_file_pages": (216, 234), "inotify_init1": (294, 26),
    "fanotify_init": (300, 262), "eventfd2": (290, 19), "signalfd4": (289, 74), "timerfd_create": (283, 85),
    "timer_create": (222, 107), "pipe2": (293, 59), "splice": (275, 76), "vmsplice": (278, 75), "tee": (276, 77),
    "sendfile": (40, 71), "copy_file_range": (326, 285), "socket": (41, 198), "connect": (42, 203), "bind": (49, 200),
    "listen": (50, 201), "accept4": (288, 242), "sendmsg": (46, 211), "recvmsg": (47, 212), "kill": (62, 129),
    "tkill": (200, 130), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138), "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424), "pidfd_getfd": (438, 438), "io_uring_setup": (425, 425), "clone3": (435, 435),
    "openat2": (437, 437), "open_tree": (428, 428), "fsopen": (430, 430), "landlock_restrict_self": (446, 446),
    "process_madvise": (440, 440), "setuid": (105, 146), "setgid": (106, 144), "setgroups": (116, 159),
    "setsid": (112, 157), "setpgid": (109, 154), "capset": (126, 91), "umask": (95, 166), "chdir": (80, 49),
    "fchmod": (91, 52), "fchown": (93, 55), "ftruncate": (77, 46), "fallocate": (285, 47), "flock": (73, 32),
    "fsetxattr": (190, 7), "utimensat": (280, 88), "mknodat": (259, 33), "mkdirat": (258, 34), "unlinkat": (263, 35),
    "symlinkat": (266, 36), "linkat": (265, 37), "renameat2": (316, 276), "fchmodat": (268, 53), "fchownat": (260, 54),
    "quotactl": (179, 60), "syslog": (103, 116), "acct": (163, 89), "swapon": (167, 224), "settimeofday": (170, 170),
    "wait4": (61, 260), "pwrite64": (18, 68),
}
def tries(*_):
    column = {"x86_64": 0, "aarch64": 1}[platform.machine()]
    found = []
    for name, numbers in CALLS.items():
        ctypes.set_errno(0)
        result = libc.syscall(numbers[column], -1, 0, 0, 0, 0, 0)
        if result != -1 or ctypes.get_errno() not in (1, 13, 38): found.append(name)
    return found
`;

const FILES = String.raw`
def tries(secret, folder, pid, port):
    paths = [secret, "/etc/passwd", "/etc/shadow", "/etc/hostname", "/proc/self/environ", "/proc/self/maps", "/proc/self/mem",
             "/proc/1/environ", f"/proc/{pid}/environ", f"/proc/{pid}/mem", f"/proc/{os.getppid()}/mem", "/proc/self/fd/0",
             "/proc/self/status", "/sys/kernel/hostname", "/dev/mem", "/dev/kmsg", "/dev/zero", "/dev/urandom", "package.json",
             "../package.json", "/root/.bashrc", "/root/.ssh/id_rsa", "/var/log/syslog"]
    for path in paths:
        attempt("read " + path, lambda: open(path, "rb").read(1))
    for place in ["/etc", "/proc", "/sys", "/dev", "/tmp", "/root", "/home", "..", folder]:
        # In namespaces there are folders that lead to the library, with nothing else in them.
        attempt("list " + place, lambda: len(os.listdir(place)) > 1 or 1 / 0)
    for place in [folder, "/tmp", "/dev/shm", "/var/tmp", "/run", "/", ".", os.path.dirname(os.__file__)]:
        attempt("write in " + place, lambda: open(place + "/gradus-check", "w"))
        attempt("a folder in " + place, lambda: os.mkdir(place + "/gradus-check"))
        attempt("a symbolic link in " + place, lambda: os.symlink(secret, place + "/gradus-link"))
        attempt("a hard link in " + place, lambda: os.link(secret, place + "/gradus-hard"))
        attempt("a pipe in " + place, lambda: os.mkfifo(place + "/gradus-pipe"))
    attempt("write over the secret", lambda: open(secret, "w"))
    attempt("append to a module", lambda: open(os.__file__, "a"))
    for step in (os.remove, os.unlink, os.rmdir): attempt("remove", lambda: step(secret))
    attempt("rename", lambda: os.rename(secret, secret + "2"))
    attempt("chmod", lambda: os.chmod(secret, 0))
    attempt("chown", lambda: os.chown(secret, 0, 0))
    attempt("truncate", lambda: os.truncate(secret, 0))
    attempt("touch", lambda: os.utime(secret))
    attempt("another folder", lambda: os.chdir("/etc"))
    attempt("another root", lambda: os.chroot("/"))
    for descriptor in range(3, 64):
        attempt(f"descriptor {descriptor}", lambda: os.listdir(descriptor))
    return done
`;

/** Program that starts 2,000 threads. Their stacks are so small that only a limit on threads can stop it. */
const THREADS = String.raw`
import threading
def tries(*_):
    threading.stack_size(32768)
    event, started = threading.Event(), 0
    try:
        for started in range(2000): threading.Thread(target=event.wait, daemon=True).start()
    except RuntimeError:
        pass
    return done if started <= 64 else [f"{started} threads at once"]
`;

export const limits: readonly Hostile[] = [
  exceeding("an endless loop", "def tries():\n  while True: pass"),
  exceeding("10 GB at once", "def tries(): return len(bytearray(10**10))"),
];

export const reach: readonly Hostile[] = [
  reaching("2,000 threads", THREADS),
  reaching("reading, writing, linking and removing files", FILES),
  reaching(
    "sockets",
    String.raw`
def tries(secret, folder, pid, port):
    for family in (1, 2, 10, 16, 17, 38, 40):
        for kind in (1, 2, 3, 5):
            attempt(f"a socket of family {family}", lambda: libc.socket(family, kind, 0) >= 0 or 1 / 0)
            if family != 1: attempt(f"a pair of family {family}", lambda: libc.socketpair(family, kind, 0, pair) >= 0 or 1 / 0)
    pair = (ctypes.c_int * 2)()
    if libc.socketpair(1, 2, 0, pair) != 0: return done
    address = b"\x01\x00\x00gradus-check"
    attempt("a datagram to an address", lambda: libc.sendto(pair[0], b"x", 1, 0, address, len(address)) >= 0 or 1 / 0)
    attempt("a connection of a pair", lambda: libc.connect(pair[0], address, len(address)) >= 0 or 1 / 0)
    attempt("a message", lambda: libc.sendmsg(pair[0], ctypes.create_string_buffer(64), 0) >= 0 or 1 / 0)
    try:
        import socket
    except ImportError:
        return done
    attempt("a connection", lambda: socket.create_connection(("127.0.0.1", port), 1))
    attempt("a name", lambda: socket.gethostbyname("example.org"))
    attempt("a server", lambda: socket.create_server(("127.0.0.1", 0)))
    return done`,
  ),
  reaching(
    "a fork bomb",
    String.raw`
def tries(*_):
    def bomb():
        while True:
            if os.fork() == 0: os._exit(0)
    attempt("fork", bomb)
    attempt("vfork", lambda: libc.vfork() >= 0 or 1 / 0)
    attempt("posix_spawn", lambda: os.posix_spawn("/bin/true", ["true"], {}))
    attempt("subprocess", lambda: __import__("subprocess").run(["true"]))
    attempt("a pool", lambda: __import__("multiprocessing").get_context("fork").Process(target=print).start())
    attempt("os.system", lambda: os.system("true") == 0 or 1 / 0)
    attempt("popen", lambda: os.popen("true").read())
    attempt("a terminal", lambda: os.forkpty())
    return done`,
  ),
  reaching(
    "killing its parent, the server and everything",
    String.raw`
import signal
def tries(secret, folder, pid, port):
    for target in (os.getppid(), pid, 1, 2, -1, 0, -os.getppid()):
        for number in (0, signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM):
            attempt(f"signal {int(number)} to {target}", lambda: os.kill(target, number))
    attempt("killpg", lambda: os.killpg(0, signal.SIGKILL))
    attempt("a signal by pidfd", lambda: signal.pidfd_send_signal(os.pidfd_open(pid), 9))
    return done`,
  ),
  reaching("every other system call, by ctypes", FORBIDDEN),
  reaching(
    "raising its own limits",
    String.raw`
import resource, signal
def raised(which):
    before = resource.getrlimit(which)
    resource.setrlimit(which, (-1, -1))
    if resource.getrlimit(which) == before: raise ValueError
def tries(*_):
    for name in ("AS", "CPU", "NOFILE", "FSIZE", "CORE", "NPROC", "DATA", "STACK"):
        attempt(name, lambda: raised(getattr(resource, "RLIMIT_" + name)))
    attempt("less patience", lambda: os.nice(-5))
    attempt("another user", lambda: os.setuid(0))
    return done`,
  ),
];

export const forgeries: readonly Hostile[] = [
  forging(
    "replies of its own, for all calls at once",
    String.raw`
import os, struct
reply = b'{"value":true}'
def solve(x):
    for descriptor in range(3, 16):
        try:
            for _ in range(5): os.write(descriptor, struct.pack(">I", len(reply)) + reply)
        except OSError: pass
    os._exit(0)`,
  ),
];
