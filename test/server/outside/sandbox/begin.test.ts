/**
 * Tests of failures in a program's process before the program begins (python/child.py), as when the kernel has no
 * memory.
 */
import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import { expect, test } from "vitest";

/** Runs one case in a room in which one step fails, and prints the result. */
const RUN = `
import errno, mmap, os, sys
import kernel, process
from child import SCRIPT, Case, Room
from doorman import Doorman
from time_limit import Budget

def fail(*_): raise OSError(errno.ENOMEM, "no memory")
step, kind = sys.argv[1], int(sys.argv[2])
room = object.__new__(Room)
room.null, room.nothing = os.open(os.devnull, os.O_WRONLY), os.open(os.devnull, os.O_RDONLY)
room.doorman, room.accounts, room._file_rules, room._zygote = Doorman(), -1, 1, os.getpid()
room._filter, room._inherited_bytes = None, 1 << 40
kernel.restrict_files = fail if step == "files" else lambda *_: None
kernel.install_filter = fail if step == "filter" else lambda *_: None
room.lock = (lambda *_: kernel.install_filter(None)) if step != "limits" else fail
case = b'{"name":"f","args":[]}'
data = mmap.mmap(-1, 4096)
program = b"def f(): raise ValueError" if kind != SCRIPT else b"import sys; sys.exit(1)"
data[:len(program)] = program
data[2048:2048 + len(case)] = case
cases = [Case(kind, 2048, 2048 + len(case))]
try:
    with process.Process(room, data, (0, len(program)), cases, Budget(10_000), lambda: None) as it:
        outcome = it.next()
        print(outcome.kind, bytes(outcome.payload).decode())
except process.KilledError:
    print("a failure of ours")
`;

const run = (step: string, kind: number): string =>
  execFileSync("python3", ["-B", "-c", RUN, step, `${kind}`], {
    cwd: resolve("server/outside/sandbox/python"),
    encoding: "utf8",
  }).trim();

test.each([
  ["a script", 0, "3 an exit with status 1"],
  ["a call", 1, '1 {"raised":"ValueError (line 1)","names":["ValueError","Exception","BaseException","object"]}'],
] as const)("of %s it is a failure of ours, and no failed test", (_, kind, own) => {
  expect(run("nothing", kind)).toBe(own);
  for (const step of ["files", "filter", "limits"]) expect(run(step, kind)).toBe("a failure of ours");
});
