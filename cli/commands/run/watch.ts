/** `gradus run watch`: shows a run's arms live. A terminal shows a drawing; a pipe gets a line for each update batch. */
import { toJsonString } from "@bufbuild/protobuf";
import type { Command } from "commander";
import { type RunConfig, type RunState, RunStateSchema } from "../../../clients/ts/src/public.ts";
import { addServerOptions, type ConnectionFlags, withServer } from "../../connection.ts";
import { note } from "../../notes.ts";
import { print, terminalWidth, usableWidth } from "../../print.ts";
import { follow, type FollowedState } from "../../runs/follow.ts";
import { plainLine, stateLines } from "../../runs/lines.ts";
import { openScreen } from "../../runs/screen.ts";
import { drawnOn } from "../../../server/runtime/terminal.ts";

interface Flags extends ConnectionFlags {
  readonly json?: boolean;
  readonly once?: boolean;
}

/** View that shows the states of a run, one after the other. */
interface View {
  see(seen: FollowedState): void;
  /** Ends the view. `last` says how the run ended, and is empty if there is nothing to say. */
  close(last: string): void;
}

/** Minimum time between two frames, in milliseconds. Faster frames cannot be told apart. */
const FRAME_MS = 200;

const endings = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export function addWatch(group: Command): void {
  const command = group
    .command("watch")
    .description("watch a run until it is done: its arms, their probabilities, values and success")
    .argument("<run>", "its id")
    .option("--once", "show the present state, and end")
    .option("--json", "print JSON lines: the contract's RunState, after each change");
  addServerOptions(command).action(async (id: string, flags: Flags) => {
    const ended = new AbortController();
    let by: NodeJS.Signals | undefined;
    const end = (signal: NodeJS.Signals): void => {
      by = signal;
      ended.abort();
    };
    for (const signal of endings) process.on(signal, end);
    try {
      await withServer(flags, async (client) => {
        const run = client.run(id);
        const { config } = await run.get();
        const view = viewOf(config, flags);
        await watched(view, follow(run, { signal: ended.signal }), flags.once === true, ended.signal);
      });
    } finally {
      // Remove the handlers last, because Ctrl-C arrives twice: from the terminal and from the npx that started this
      // process.
      for (const signal of endings) process.off(signal, end);
    }
    if (by !== undefined) process.kill(process.pid, by);
  });
}

async function watched(
  view: View,
  states: AsyncIterable<FollowedState>,
  once: boolean,
  signal: AbortSignal,
): Promise<void> {
  let last = "the run was deleted";
  try {
    for await (const seen of states) {
      view.see(seen);
      if (seen.kind === "state" && seen.state.done) last = "the run is done";
      else if (once && seen.kind === "state") last = "";
      else continue;
      return;
    }
    // Print no reason if the user ended the command.
    if (signal.aborted) last = "";
  } catch (error) {
    last = "";
    throw error;
  } finally {
    view.close(last);
  }
}

function viewOf(config: RunConfig | undefined, { json, once }: Flags): View {
  if (json) return jsonView();
  return process.stdout.isTTY && once !== true ? drawnView(config) : plainView(config, once === true);
}

function jsonView(): View {
  return {
    see: (seen) => {
      if (seen.kind === "state") print(toJsonString(RunStateSchema, seen.state, { alwaysEmitImplicit: true }));
      else note(`gradus: ${seen.reason}; trying again`);
    },
    close: () => undefined,
  };
}

/**
 * Returns a view that prints a line whenever tasks were drawn or an update batch was closed. A line for each sample
 * would be too many.
 */
function plainView(config: RunConfig | undefined, once: boolean): View {
  let lastKey = "";
  return {
    see(seen) {
      if (seen.kind === "lost") return note(`gradus: ${seen.reason}; trying again`);
      const { state } = seen;
      if (once) return print(stateLines(config, state, terminalWidth()).join("\n"));
      const key = [state.batchesDrawn, state.batchesClosed, state.paused, state.done, state.epoch].join();
      if (key === lastKey) return;
      lastKey = key;
      print(plainLine(config, state));
    },
    close: (last) => {
      if (!once && last !== "") print(last);
    },
  };
}

function drawnView(config: RunConfig | undefined): View {
  const screen = openScreen(drawnOn.screen);
  let state: RunState | undefined;
  let trouble = "";
  let timer: NodeJS.Timeout | undefined;
  const frame = (columns: number): readonly string[] => [
    ...(state === undefined ? [] : stateLines(config, state, usableWidth(columns))),
    ...(trouble === "" ? [] : ["", trouble]),
  ];
  const draw = (): void => {
    timer = undefined;
    screen.draw(frame);
  };
  return {
    see(seen) {
      if (seen.kind === "state") state = seen.state;
      trouble = seen.kind === "lost" ? `lost the connection (${seen.reason}); trying again` : "";
      timer ??= setTimeout(draw, FRAME_MS);
    },
    close(last) {
      clearTimeout(timer);
      screen.close();
      // Print the last frame again, so that it stays on the terminal.
      print([...frame(terminalWidth()), ...(last === "" ? [] : ["", last])].join("\n"));
    },
  };
}
