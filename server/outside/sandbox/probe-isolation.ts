/**
 * Checks that a sandbox really isolates programs, by running a program that tries forbidden actions. The server uses a
 * sandbox only after it passes, because some kernels, e.g. emulated ones, offer isolation that they do not enforce.
 */
import type { AskContext, Sandbox } from "../../../envs/ports.ts";

/** Python program that tries forbidden actions. Returns a list of those that succeeded, each in a few words. */
const PROGRAM = `
import ctypes, mmap, os, socket

def tries():
    done = []
    def attempt(what, step):
        try:
            step()
            done.append(what)
        except (OSError, MemoryError):
            pass
    for path in ["/etc/passwd", "/proc/self/environ", "/proc/self/maps", "/proc/1/cmdline", "/etc/hostname"]:
        attempt("reading " + path, lambda: open(path).read())
    for folder in ["/etc", "/tmp", "/proc", "/home"]:
        attempt("listing " + folder, lambda: os.listdir(folder))
    for folder in ["/tmp", "/dev/shm", "/var/tmp", "."]:
        attempt("writing in " + folder, lambda: open(folder + "/gradus-probe", "w").close())
    attempt("a socket", lambda: socket.socket().close())
    attempt("a process", lambda: os.fork() or os._exit(0))
    attempt("another program", lambda: os.execv("/bin/true", ["true"]))
    attempt("a signal to its parent", lambda: os.kill(os.getppid(), 0))
    attempt("shared memory", lambda: os.close(os.memfd_create("probe")))
    attempt("4 GiB of memory", lambda: mmap.mmap(-1, 4 * 1024**3).close())
    if ctypes.CDLL(None).shmget(0, 4096, 0o600) >= 0:
        done.append("System V shared memory")
    return done
`;

const CPU_MS_MAX = 2000;

export type Probed =
  | { readonly kind: "closed" }
  /** The sandbox must not be used. `why` says which forbidden actions succeeded in it, or why the check failed. */
  | { readonly kind: "open"; readonly why: string };

export async function probeRoom(sandbox: Sandbox, context: AskContext): Promise<Probed> {
  const cases = [{ kind: "call", name: "tries", args: [] }] as const;
  const reply = await sandbox.ask({ program: PROGRAM, cases, cpuMsMax: CPU_MS_MAX }, context);
  if (reply.kind === "failed") return { kind: "open", why: reply.detail };
  const [result] = reply.results;
  if (result?.kind !== "returned" || !Array.isArray(result.value))
    return { kind: "open", why: `a trial program had an unexpected result: ${JSON.stringify(result)}` };
  const could = result.value as readonly unknown[];
  return could.length === 0 ? { kind: "closed" } : { kind: "open", why: `programs could do this: ${could.join(", ")}` };
}
