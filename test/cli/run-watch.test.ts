/** Watching: the screen that is drawn on, and servers that come and go. */
import { create } from "@bufbuild/protobuf";
import { EventEmitter } from "node:events";
import { describe, expect, test } from "vitest";
import { GradusError, type RunHandle, type RunState, RunStateSchema } from "../../clients/ts/src/public.ts";
import { follow } from "../../cli/runs/follow.ts";
import { openScreen } from "../../cli/runs/screen.ts";

/** A terminal that keeps the text written to it. */
class Terminal extends EventEmitter {
  columns = 20;
  rows = 5;
  written = "";

  write(text: string): boolean {
    this.written += text;
    return true;
  }

  /** The text of the frame that was drawn last, without its sequences. */
  frame(): readonly string[] {
    const last = this.written.slice(this.written.lastIndexOf("\x1b[H"));
    return last.replaceAll(/\x1b\[\??[\d;]*[a-zA-Z]/g, "").split("\r\n");
  }
}

describe("the screen", () => {
  test("is another one, which is left whole however often it is closed", () => {
    const terminal = new Terminal();
    const before = process.listenerCount("exit");
    const screen = openScreen(terminal);
    expect(terminal.written).toContain("\x1b[?1049h");
    screen.draw(() => ["a"]);
    screen.close();
    screen.close();
    expect(terminal.written.endsWith("\x1b[?25h\x1b[?1049l")).toBe(true);
    expect(terminal.written.match(/\x1b\[\?1049l/g)).toHaveLength(1);
    expect([terminal.listenerCount("resize"), process.listenerCount("exit")]).toEqual([0, before]);
  });

  test("is drawn anew for the size that it has", () => {
    const terminal = new Terminal();
    const screen = openScreen(terminal);
    screen.draw((columns) => ["x".repeat(columns + 10), "second", "third"]);
    expect(terminal.frame()).toEqual(["x".repeat(20), "second", "third"]);
    Object.assign(terminal, { columns: 8, rows: 2 });
    terminal.emit("resize");
    expect(terminal.frame()).toEqual(["x".repeat(8), "… 2 more"]);
    Object.assign(terminal, { columns: 0, rows: 0 });
    terminal.emit("resize");
    expect(terminal.frame()).toEqual(["x".repeat(80), "second", "third"]);
    screen.close();
    terminal.emit("resize");
    expect(terminal.written.endsWith("\x1b[?1049l")).toBe(true);
  });
});

type Attempt = readonly (RunState | Error)[];

/** Returns a run whose successive watches behave as the attempts say. */
function watched(...attempts: readonly Attempt[]): Pick<RunHandle, "watch"> {
  const left = [...attempts];
  return {
    async *watch() {
      for (const step of left.shift() ?? []) {
        if (step instanceof Error) throw step;
        yield step;
      }
    },
  };
}

const at = (version: number): RunState => create(RunStateSchema, { version: BigInt(version) });
const gone = new GradusError("UNAVAILABLE", "the server is shutting down");
const signal = new AbortController().signal;

async function seen(run: Pick<RunHandle, "watch">): Promise<readonly (number | string)[]> {
  const all: (number | string)[] = [];
  for await (const each of follow(run, { signal, delayMs: 1, delayMaxMs: 2 }))
    all.push(each.kind === "state" ? Number(each.state.version) : each.reason);
  return all;
}

describe("a run is followed", () => {
  test("over servers that go away, until it is deleted", async () => {
    const run = watched([at(1), at(2), gone], [gone], [at(2), at(3)]);
    expect(await seen(run)).toEqual([1, 2, gone.message, gone.message, 2, 3]);
  });

  test("but not to a server that was never there, nor past what trying again does not mend", async () => {
    await expect(seen(watched([gone]))).rejects.toBe(gone);
    const lost = new GradusError("NOT_FOUND", "no such run");
    await expect(seen(watched([at(1), gone], [lost]))).rejects.toBe(lost);
  });
});
