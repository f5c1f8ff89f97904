/**
 * Tests of the filter of system calls, played here for both architectures: it lets through only the calls on its list.
 */
import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";

const ALLOW = 0x7fff0000;
const ASKED = 0x7fc00000;
const KILL = 0x80000000;
const ERRNO = 0x00050000;
const [EPERM, EACCES, ENOSYS] = [ERRNO | 1, ERRNO | 13, ERRNO | 38];

interface Made {
  readonly code: string;
  /** The filter that asks for threads. */
  readonly asking: string;
  /** The filter of a host that imports mounted files, with a network. */
  readonly host: string;
  readonly architecture: number;
  /** Numbers that are always let through. */
  readonly always: readonly number[];
  readonly some: Readonly<Record<string, number | null>>;
  /** Numbers of calls by which one process reaches another. */
  readonly reaching: Readonly<Record<string, number>>;
}

const ASK = `
import filter, json
names = ("OPEN", "OPENAT", "CLONE", "FCNTL", "IOCTL", "PRLIMIT64", "SOCKETPAIR", "SENDTO", "SCHED_YIELD")
host = ("PRCTL", "SOCKET", "GETSOCKOPT")
reaching = {
    "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138), "ptrace": (101, 117),
    "setpgid": (109, 154), "setsid": (112, 157), "execve": (59, 221), "process_vm_readv": (310, 270),
    "setpriority": (141, 140), "sched_setaffinity": (203, 122), "sched_setscheduler": (144, 119), "ioprio_set": (251, 30),
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "chroot": (161, 51), "seccomp": (317, 277),
    "keyctl": (250, 219), "shmget": (29, 194), "pidfd_send_signal": (424, 424), "clone3": (435, 435), "pidfd_getfd": (438, 438),
    "io_uring_setup": (425, 425), "accept": (43, 202), "kcmp": (312, 272),
}
print(json.dumps({name: {
    "code": filter.program(name).hex(), "asking": filter.asking_for_threads(name).hex(), "architecture": number,
    "always": [numbers[i] for numbers in filter.ALWAYS.values() if numbers[i] is not None],
    "host": filter.program(name, network=True, children=True, loads=True).hex(),
    "some": {each: getattr(filter, each)[i] for each in names},
    "reaching": {each: both[i] for each, both in reaching.items()} | {each: getattr(filter, each)[i] for each in host},
} for i, (name, number) in enumerate(filter.ARCHITECTURES.items())}))`;

const folder = resolve("server/outside/sandbox/python");
const made = JSON.parse(execFileSync("python3", ["-B", "-c", ASK], { cwd: folder, encoding: "utf8" })) as Readonly<
  Record<string, Made>
>;

/** Classic BPF, as far as the filter uses it. */
function verdict(
  { code }: Pick<Made, "code">,
  architecture: number,
  call: number,
  args: readonly bigint[] = [],
): number {
  const program = Buffer.from(code, "hex");
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call, 0);
  data.writeUInt32LE(architecture, 4);
  args.forEach((arg, i) => data.writeBigUInt64LE(arg, 16 + 8 * i));
  let accumulator = 0;
  for (let at = 0; ; at += 8) {
    const [operation, yes, no, k] = [
      program.readUInt16LE(at),
      program[at + 2] ?? 0,
      program[at + 3] ?? 0,
      program.readUInt32LE(at + 4),
    ];
    if (operation === 0x06) return k;
    if (operation === 0x54) accumulator &= k;
    else if (operation === 0x20) accumulator = data.readUInt32LE(k);
    else if (operation === 0x05) at += 8 * k;
    else {
      const holds = { 0x15: accumulator === k, 0x35: accumulator >= k, 0x45: (accumulator & k) !== 0 }[operation];
      if (holds === undefined) throw new Error(`operation ${operation}`);
      at += 8 * (holds ? yes : no);
    }
  }
}

describe.each(Object.entries(made))("on %s", (_name, filter) => {
  const { architecture, always, some } = filter;
  const ask = (call: number | null | undefined, ...args: readonly bigint[]) =>
    verdict(filter, architecture, call ?? NaN, args);

  test("exactly what is on the list is always let through", () => {
    const depends = Object.values(some);
    for (let call = 0; call < 600; call++) {
      if (depends.includes(call)) continue;
      const expected = always.includes(call) ? ALLOW : call < 424 ? EPERM : ENOSYS;
      expect(ask(call), `call ${call}`).toBe(expected);
    }
  });

  test("calls of another architecture or interface end the process", () => {
    expect(verdict(filter, 0x40000003, 1)).toBe(KILL);
    for (const call of [0x40000000, 0x40000001, 0x7fffffff, 0xffffffff]) expect(ask(call)).toBe(KILL);
  });

  test("who gives a turn away keeps it, and is told that it is gone", () => {
    expect(ask(some["SCHED_YIELD"])).toBe(ERRNO);
  });

  test("threads are asked for where somebody listens, and nothing else is", () => {
    const asks = (call: number | null | undefined, ...args: readonly bigint[]) =>
      verdict({ code: filter.asking }, architecture, call ?? NaN, args);
    for (const flags of [0x3d0f00n, 0x7d0f00n]) expect(asks(some["CLONE"], flags)).toBe(ASKED);
    // These are the flags of a fork.
    for (const flags of [17n, 0x1200011n, 0n]) expect(asks(some["CLONE"], flags)).toBe(ALLOW);
    for (let call = 0; call < 600; call++) if (call !== some["CLONE"]) expect(asks(call, 0x3d0f00n)).toBe(ALLOW);
  });

  test("files are opened to read, threads are started, and nothing else of the kind", () => {
    for (const [name, place] of [
      ["OPENAT", 2],
      ["OPEN", 1],
    ] as const) {
      const opens = (flags: bigint) => ask(some[name], ...Array<bigint>(place).fill(0n), flags);
      if (some[name] === null) continue;
      expect(opens(0o2000000n)).toBe(ALLOW);
      for (const flags of [0o1n, 0o2n, 0o100n, 0o1000n, 0o2000n, 0o20200000n]) expect(opens(flags)).toBe(EACCES);
    }
    expect(ask(some["CLONE"], 0x3d0f00n)).toBe(ALLOW);
    for (const flags of [17n, 0x4111n, 0x13d0f00n, 0x103d0f00n, 0x3d0e00n, 0n])
      expect(ask(some["CLONE"], flags)).toBe(EPERM);
  });

  test("what is asked of descriptors, limits and sockets is harmless", () => {
    expect([ask(some["FCNTL"], 0n, 3n), ask(some["FCNTL"], 0n, 1031n), ask(some["FCNTL"], 0n, 1033n)]).toEqual([
      ALLOW,
      EPERM,
      EPERM,
    ]);
    expect([ask(some["IOCTL"], 0n, 0x5401n), ask(some["IOCTL"], 0n, 0x5412n)]).toEqual([ALLOW, EPERM]);
    expect([ask(some["PRLIMIT64"], 0n, 1n, 0n), ask(some["PRLIMIT64"], 0n, 1n, 1n << 32n)]).toEqual([ALLOW, EPERM]);
    const pair = (family: bigint, type: bigint) => ask(some["SOCKETPAIR"], family, type);
    // Streams, with SOCK_CLOEXEC or without; datagrams and packets could be connected to somebody else's socket.
    expect([pair(1n, 1n), pair(1n, 0o2000001n), pair(2n, 1n)]).toEqual([ALLOW, ALLOW, EPERM]);
    expect([pair(1n, 2n), pair(1n, 5n)]).toEqual([EPERM, EPERM]);
    expect([ask(some["SENDTO"], 0n, 0n, 0n, 0n, 0n), ask(some["SENDTO"], 0n, 0n, 0n, 0n, 1n << 40n)]).toEqual([
      ALLOW,
      EPERM,
    ]);
  });

  test("a host that imports and has a network reaches no other process", () => {
    const { PRCTL: prctl, SOCKET: socket, GETSOCKOPT: getsockopt, ...others } = filter.reaching;
    const does = (call: number | null | undefined, ...args: readonly bigint[]) =>
      verdict({ code: filter.host }, architecture, call ?? NaN, args);
    for (const [name, call] of Object.entries(others)) expect([EPERM, ENOSYS], name).toContain(does(call));
    // The process may fork, and may start no process that shares its memory or its parent.
    expect(does(some["CLONE"], 0x1200011n)).toBe(ALLOW);
    for (const flags of [0x4111n, 0x8011n, 0x20000011n, 0x10000011n]) expect(does(some["CLONE"], flags)).toBe(EPERM);
    // Its own limits, and the end with its parent, which it cannot take back.
    expect([does(some["PRLIMIT64"], 0n, 7n, 1n), does(some["PRLIMIT64"], 1n, 7n, 1n)]).toEqual([ALLOW, EPERM]);
    expect([does(prctl, 1n, 9n), does(prctl, 1n, 0n), does(prctl, 36n, 1n)]).toEqual([ALLOW, EPERM, EPERM]);
    // Sockets of IPv4 and IPv6, and no descriptor of the process at the other end.
    expect([2n, 10n, 1n, 16n, 17n, 40n].map((family) => does(socket, family))).toEqual([
      ALLOW,
      ALLOW,
      ...Array<number>(4).fill(EPERM),
    ]);
    expect([does(getsockopt, 5n, 1n, 4n), does(getsockopt, 5n, 1n, 77n)]).toEqual([ALLOW, EPERM]);
  });
});
