import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { execFileSync } from "node:child_process";
import nodeFlags from "../../../server/cli/node-flags.json" with { type: "json" };
import { collectInQuiet } from "../../../server/runtime/young-garbage.ts";

const MIB = 1024 ** 2;

describe("in a quiet moment", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function asked(garbage: number, busyShare = 0) {
    const collect = vi.fn();
    return { collect, ask: collectInQuiet({ bytes: () => garbage, collect }, () => () => busyShare) };
  }

  test("it is collected once, a while after it was last asked for", () => {
    const { collect, ask } = asked(8 * MIB);
    for (let i = 0; i < 10; i++) {
      ask();
      vi.advanceTimersByTime(10);
    }
    expect(collect).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1000);
    expect(collect).toHaveBeenCalledTimes(1);
    ask();
    vi.advanceTimersByTime(1000);
    expect(collect).toHaveBeenCalledTimes(2);
  });

  test.each([
    ["there is little", asked(1 * MIB)],
    ["others are at work", asked(8 * MIB, 0.9)],
  ])("where %s nothing is done", (_, { collect, ask }) => {
    ask();
    vi.advanceTimersByTime(1000);
    expect(collect).not.toHaveBeenCalled();
  });

  test("a process in which V8 decides alone goes on", () => {
    expect(() => collectInQuiet(undefined)()).not.toThrow();
  });
});

test("the command's Node collects what is young, and says how much there is", () => {
  const module = new URL("../../../server/runtime/young-garbage.ts", import.meta.url);
  const program = `
    import { youngGarbage } from ${JSON.stringify(module)};
    const garbage = youngGarbage();
    garbage.collect();
    let last;
    for (let i = 0; i < 300; i++) last = new Array(128).fill(i);
    const before = garbage.bytes();
    garbage.collect();
    console.log(JSON.stringify([before, garbage.bytes()]));`;
  const flags = [...nodeFlags, "--input-type=module", "--eval", program];
  const [before, after] = JSON.parse(execFileSync(process.execPath, flags, { encoding: "utf8" })) as [number, number];
  // 300 KiB of garbage: fewer than the first scavenge of a process waits for.
  expect(before - after).toBeGreaterThan(200 * 1024);
});
