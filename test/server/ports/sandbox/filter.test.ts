/** The filter of system calls, played here for both architectures: what it lets through is what is on its list. */
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
  readonly architecture: number;
  /** Numbers that are always let through. */
  readonly always: readonly number[];
  readonly some: Readonly<Record<string, number | null>>;
}

const ASK = `
import filter, json
names = ("OPEN", "OPENAT", "CLONE", "FCNTL", "IOCTL", "PRLIMIT64", "SOCKETPAIR", "SENDTO", "SCHED_YIELD")
print(json.dumps({name: {
    "code": filter.program(name).hex(), "asking": filter.asking_for_threads(name).hex(), "architecture": number,
    "always": [numbers[i] for numbers in filter.ALWAYS.values() if numbers[i] is not None],
    "some": {each: getattr(filter, each)[i] for each in names},
} for i, (name, number) in enumerate(filter.ARCHITECTURES.items())}))`;

const folder = resolve("server/ports/sandbox/python");
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
    if (operation === 0x20) accumulator = data.readUInt32LE(k);
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
    // As processes are forked.
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
    expect([ask(some["SOCKETPAIR"], 1n), ask(some["SOCKETPAIR"], 2n)]).toEqual([ALLOW, EPERM]);
    expect([ask(some["SENDTO"], 0n, 0n, 0n, 0n, 0n), ask(some["SENDTO"], 0n, 0n, 0n, 0n, 1n << 40n)]).toEqual([
      ALLOW,
      EPERM,
    ]);
  });
});
