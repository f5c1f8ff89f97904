/** Tests the time left on a progress bar, and the progress lines in logs. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createBar } from "../../cli/bar.ts";
import { timeLeft } from "../../cli/bar.ts";
import { createEndpoint } from "../../server/outside/chat-endpoint.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { startChatServer } from "../support/chat-server.ts";
import { createProgress } from "../../cli/evaluation/progress.ts";

describe("the time left", () => {
  test.each([
    [0, 0, 100, "?"],
    [1_000, 0, 100, "?"],
    [5_000, 50, 0, "0s"],
    [1_000, 10, 10, "1s"],
    [60_000, 10, 9, "54s"],
    [60_000, 10, 10, "1m"],
    [60_000, 1, 60, "1h"],
    [60_000, 1, 90, "1h30m"],
  ])("after %d ms and %d steps, of %d more: %s", (elapsed, steps, left, words) => {
    expect(timeLeft(elapsed, steps, left)).toBe(words);
  });

  test("changes little where steps come in bursts", () => {
    // Sixteen at once, every ten seconds.
    const said = Array.from({ length: 20 }, (_, i) => [10_000 * (i + 1) + 10, 10_000 * (i + 2) - 10] as const).flatMap(
      ([after, before], i) => [after, before].map((ms) => parseInt(timeLeft(ms, 16 * (i + 1), 1600), 10)),
    );
    expect(Math.max(...said) / Math.min(...said)).toBeLessThan(2.1);
  });
});

test("a bar says the time left by that, and not by the pace of the last steps", () => {
  vi.useFakeTimers();
  const { isTTY } = process.stderr;
  const written: string[] = [];
  const write = vi.spyOn(process.stderr, "write").mockImplementation((text) => written.push(String(text)) > 0);
  process.stderr.isTTY = true;
  try {
    const bar = createBar({ done: 0, total: 1000, format: "{value} {left}" });
    vi.advanceTimersByTime(600_000);
    // A burst of many, after ten minutes without any.
    for (let i = 0; i < 100; i++) bar.update(1);
    vi.advanceTimersByTime(1_000);
    bar.stop();
  } finally {
    process.stderr.isTTY = isTTY;
    write.mockRestore();
    vi.useRealTimers();
  }
  expect(written.join("")).toContain("100 1h31m left");
});

describe("in a log", () => {
  const said: string[] = [];
  beforeEach(() => {
    vi.useFakeTimers();
    vi.spyOn(console, "error").mockImplementation((line: string) => void said.push(line));
    said.length = 0;
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });
  const options = { done: 2, total: 10, format: "{bar} {value}/{total}  {left}  failed {failed}" };

  test("a line says how far it is, now and then, and fewer as time goes on", () => {
    const bar = createBar({ ...options, payload: { failed: 0 } });
    vi.advanceTimersByTime(4_000);
    expect(said).toEqual([]);
    vi.advanceTimersByTime(2_000);
    bar.update(3, { failed: 1 });
    vi.advanceTimersByTime(10_000);
    expect(said).toEqual(["2/10  ? left  failed 0", expect.stringMatching(/^5\/10 {2}\d+s left {2}failed 1$/)]);
    vi.advanceTimersByTime(3_600_000);
    expect(said.length).toBeLessThan(70);
    bar.stop();
    const { length } = said;
    vi.advanceTimersByTime(3_600_000);
    expect(said).toHaveLength(length);
  });

  test("an endpoint that fails is said once, also where no progress is wanted", () => {
    const progress = createProgress(0, 1, false);
    for (const words of ["connect ECONNREFUSED", "connect ECONNREFUSED"]) progress.trouble(words);
    vi.advanceTimersByTime(60_000);
    progress.stop();
    expect(said).toEqual(["a request to the model failed: connect ECONNREFUSED"]);
  });

  test("work that waits for a model names it in place of an estimate, and goes back to one at its reply", async () => {
    await using model = await startChatServer((_, index) =>
      index === 1 || index === 2 ? { kind: "silence" } : { kind: "answer", content: "4" },
    );
    const endpoint = createEndpoint({ url: model.url, model: "m", key: undefined, timeoutMs: 600_000 });
    const ended = new AbortController();
    const ask = (signal = new AbortController().signal) => endpoint([{ role: "user", content: "2 + 2" }], signal);
    expect((await ask()).kind).toBe("reply");
    const bar = createBar({ ...options, payload: { failed: 0 } });
    bar.update(4);
    const asked = [0, 1].map(() => ask(ended.signal));
    await vi.waitFor(() => expect(model.requests).toHaveLength(3), PATIENCE_MS);
    vi.advanceTimersByTime(40_000);
    const { origin } = new URL(model.url);
    const words = `6/10  no reply from ${origin} for \\d+s \\(2 requests wait; the time limit of a request is 10m\\)  failed 0`;
    expect(said.at(-1)).toMatch(new RegExp(`^${words}$`));
    ended.abort();
    await Promise.all(asked);
    expect((await ask()).kind).toBe("reply");
    bar.update(1);
    vi.advanceTimersByTime(10_000);
    bar.update(1);
    vi.advanceTimersByTime(50_000);
    bar.stop();
    expect(said.at(-1)).toMatch(/^8\/10 {2}\d+[sm] left/);
  });

  test("work that stands still for many times its pace has no estimate either", () => {
    const bar = createBar({ ...options, payload: { failed: 0 } });
    for (let i = 0; i < 4; i++) {
      vi.advanceTimersByTime(500);
      bar.update(1);
    }
    vi.advanceTimersByTime(600_000);
    bar.stop();
    expect(said[0]).toMatch(/^6\/10 {2}\d+s left/);
    expect(said.at(-1)).toMatch(/^6\/10 {2}nothing done for \d+[sm] {2}failed 0$/);
  });

  test("nothing is said where nothing is to be shown", () => {
    createBar({ ...options, shown: false }).update(1);
    vi.advanceTimersByTime(60_000);
    expect(said).toEqual([]);
  });
});
