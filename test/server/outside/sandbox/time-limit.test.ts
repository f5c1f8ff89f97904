/** Tests of how a program's time is counted (python/time_limit.py), with a made-up clock and a made-up kernel's account. */
import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import { expect, test } from "vitest";

/**
 * Plays a case: in each 50 ms a program works and waits for the given times, with a part of the job's waiting time
 * already spent.
 */
const PLAY = `
import json, sys, time
asked = json.loads(sys.argv[1])
now = [0.0]
time.monotonic = lambda: now[0]
import time_limit
class Meter:
    cpu = waited = 0.0
    def cpu_ms(self): return self.cpu
    def waited_ms(self): return self.waited if asked["told"] else None
time_limit.load_of_machine = lambda: asked["load"]
meter, budget = Meter(), time_limit.Budget(asked["cpuMsMax"])
said, at_ms = None, 0
for case in range(asked["cases"]):
    begun = time_limit.Watch(budget, meter)
    for tick in range(asked["ticks"]):
        pause = asked["pauses"].get(str(tick), 0)
        now[0] += 0.05 + pause
        at_ms += 50
        meter.cpu += asked["works"]
        meter.waited += asked["waits"]
        try: said = begun.look()
        except time_limit.BusyError as error: said = b"busy: " + str(error).encode()
        if said is not None: break
    if said is not None: break
    begun.settle()
print(json.dumps([said and said.decode(), at_ms]))
`;

const folder = resolve("server/outside/sandbox/python");
const USUAL = { cpuMsMax: 1000, cases: 1, ticks: 10_000, works: 0, waits: 0, told: true, load: 1, pauses: {} };

function play(more: Partial<typeof USUAL>): readonly [limit: string | null, atMs: number] {
  const args = ["-B", "-c", PLAY, JSON.stringify({ ...USUAL, ...more })];
  return JSON.parse(execFileSync("python3", args, { cwd: folder, encoding: "utf8" })) as [string | null, number];
}

test.each<readonly [string, Partial<typeof USUAL>, string, number]>([
  ["one that sleeps", {}, "more than 2,000 ms of waiting", 2050],
  ["one that works at 3%", { works: 1.5 }, "more than 2,000 ms of waiting", 2100],
  ["one that works half of the time", { works: 25 }, "more than 1,000 ms of processor time", 2050],
  ["one that works all the time", { works: 50 }, "more than 1,000 ms of processor time", 1050],
  ["one that works on two processors", { works: 100 }, "more than 1,000 ms of processor time", 550],
  // A slow processor delays the program only as much as it slows it down: the limit is the same.
  [
    "one that has a tenth of a processor, and waits for the rest",
    { works: 5, waits: 45 },
    "more than 1,000 ms of processor time",
    10_050,
  ],
  [
    "one that sleeps on a busy machine, and works at 3%",
    { works: 1.5, waits: 30 },
    "more than 2,000 ms of waiting",
    5000,
  ],
  ["one that hardly works, and says that it waits", { works: 0.05, waits: 49 }, "more than 2,000 ms of waiting", 3150],
  [
    "one on a machine that does not tell",
    { works: 25, told: false, load: 2 },
    "more than 1,000 ms of processor time",
    2050,
  ],
  [
    "one that sleeps on a machine that does not tell",
    { works: 1.5, told: false, load: 20 },
    "more than 2,000 ms of waiting",
    5000,
  ],
  [
    "one that is asleep for less than it may be, case after case",
    { cases: 100, ticks: 39 },
    "more than 11,000 ms for all tests together",
    11_100,
  ],
])("%s comes to an end", (_name, program, limit, atMs) => {
  const [said, at] = play(program);
  expect(said).toBe(limit);
  expect(at).toBeGreaterThanOrEqual(0.9 * atMs);
  expect(at).toBeLessThanOrEqual(1.1 * atMs);
});

test("a program that works and waits for a processor for minutes is a failure of the machine", () => {
  const [said] = play({ cpuMsMax: 100_000, works: 2.5, waits: 47.5, ticks: 100_000 });
  expect(said).toBe("busy: the machine is too busy: a program waited 200 s for a processor");
});

test("a machine that was halted for a minute has not slept for the program", () => {
  expect(play({ works: 45, ticks: 20, pauses: { "3": 60 } })).toEqual([null, 1000]);
});
