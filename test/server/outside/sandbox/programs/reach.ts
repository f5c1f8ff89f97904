/** Programs that try to touch something outside of the sandbox, beside those of `gradus sandbox check`. */
import { exceeding, reaching, type Hostile } from "../../../../../server/outside/sandbox/check/hostile.ts";

export const reach: readonly Hostile[] = [
  reaching(
    "reading the environment",
    String.raw`
def tries(secret, folder, pid, port):
    if os.environ: done.append("os.environ: " + ", ".join(os.environ))
    environ = ctypes.POINTER(ctypes.c_char_p).in_dll(libc, "environ")
    at = 0
    while environ and environ[at]:
        if not environ[at].startswith(b"PYTHON"): done.append(environ[at].decode(errors="replace"))
        at += 1
    for name in (b"PATH", b"HOME", b"GRADUS_TOKEN", b"GRADUS_CHECK_SECRET"):
        libc.getenv.restype = ctypes.c_char_p
        if libc.getenv(name): done.append(name.decode())
    return done`,
  ),
  reaching(
    "running other programs",
    String.raw`
def tries(*_):
    for path in ("/bin/true", "/bin/sh", "/usr/bin/env", "/proc/self/exe", sys.executable):
        attempt(path, lambda: os.execv(path, [path]))
        attempt("posix_spawn of " + path, lambda: os.posix_spawn(path, [path], {}))
    return done`,
  ),
  reaching(
    "shared memory and memfd",
    String.raw`
def tries(*_):
    attempt("memfd_create", lambda: os.memfd_create("x"))
    attempt("shm_open", lambda: libc.shm_open(b"/gradus", 0o102, 0o600) >= 0 or 1 / 0)
    attempt("shmget", lambda: libc.shmget(1, 4096, 0o1666) >= 0 or 1 / 0)
    attempt("semget", lambda: libc.semget(1, 1, 0o1666) >= 0 or 1 / 0)
    attempt("msgget", lambda: libc.msgget(1, 0o1666) >= 0 or 1 / 0)
    attempt("a write into its input", lambda: os.write(0, b"x"))
    attempt("a longer input", lambda: os.ftruncate(0, 10**9))
    return done`,
  ),
  exceeding(
    "32-bit system calls, in machine code",
    String.raw`
import ctypes, mmap, platform
def tries():
    if platform.machine() != "x86_64": ctypes.string_at(0)
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(bytes([0xB8, 2, 0, 0, 0, 0xCD, 0x80, 0xC3]))
    start = ctypes.addressof(ctypes.c_char.from_buffer(code))
    return ctypes.CFUNCTYPE(ctypes.c_int)(start)()`,
    ["died"],
  ),
  exceeding(
    "threads without end",
    String.raw`
import threading, time
threading.stack_size(32768)
def tries():
    while True: threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()`,
    ["raised", "exceeded"],
  ),
  exceeding(
    "a thread that outlives the run",
    String.raw`
import threading, time
def f():
    while True: time.sleep(0.01)
threading.Thread(target=f).start()
print("done")`,
    ["exceeded"],
    "script",
  ),
  exceeding(
    "a thread that outlives the call",
    String.raw`
import threading, time
def f():
    while True: time.sleep(0.001)
def tries():
    threading.Thread(target=f).start()
    return 1`,
    ["returned"],
  ),
];
