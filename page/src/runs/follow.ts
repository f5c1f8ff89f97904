/** One run, live: its state as the server tells it, and its history behind it. */
import { useEffect, useState } from "preact/hooks";
import { type Gradus, gradus, noteFailure, returns } from "../session.ts";
import { type History, readHistory, STEPS } from "./history.ts";
import { type ReadRun, readRun } from "./state.ts";

/** Between two looks at the history of a run that goes on: what a chart of a few hundred steps shows does not change faster. */
const PAUSE_MS = 2_000;

export interface Followed {
  readonly run: ReadRun | undefined;
  readonly history: History | undefined;
  readonly error: Error | undefined;
}

const nothing: Followed = { run: undefined, history: undefined, error: undefined };

export function useRun(runId: string): Followed {
  const [followed, setFollowed] = useState<Followed>(nothing);
  const [visible, setVisible] = useState(!document.hidden);
  useEffect(() => {
    const note = () => setVisible(!document.hidden);
    document.addEventListener("visibilitychange", note);
    return () => document.removeEventListener("visibilitychange", note);
  }, []);
  const client = gradus.value;
  useEffect(() => {
    // Nobody looks, and the server is not asked.
    if (!visible) return undefined;
    const leaving = new AbortController();
    const tell = (news: Partial<Followed>) => {
      if (!leaving.signal.aborted) setFollowed((before) => ({ ...before, error: undefined, ...news }));
    };
    follow(client, runId, leaving.signal, tell).catch((error: unknown) => {
      if (leaving.signal.aborted) return;
      noteFailure(error);
      tell({ error: error instanceof Error ? error : new Error(String(error)) });
    });
    return () => leaving.abort();
  }, [runId, client, returns.value, visible]);
  return followed;
}

async function follow(
  client: Gradus,
  runId: string,
  signal: AbortSignal,
  tell: (news: Partial<Followed>) => void,
): Promise<void> {
  const handle = client.run(runId);
  let run = readRun(await handle.get({ signal }));
  if (run === undefined) throw new Error("this server cannot read the run; its log says why");
  tell({ run });
  const watched = watchHistory(client, runId, signal, tell);
  watched.wants(Number(run.state.batchesDrawn));
  for await (const state of handle.watch({ signal })) {
    run = { ...run, state };
    tell({ run });
    watched.wants(Number(state.batchesDrawn));
  }
  throw new Error("the run was deleted");
}

/** Reads the history when it is told that there is more, one reading after the other. */
function watchHistory(client: Gradus, runId: string, signal: AbortSignal, tell: (news: Partial<Followed>) => void) {
  let history: History | undefined;
  let wanted: number | undefined;
  let reading = false;
  const read = async () => {
    reading = true;
    while (wanted !== undefined && !signal.aborted) {
      const batchesDrawn = wanted;
      wanted = undefined;
      history = await readHistory(client, history, { runId, steps: STEPS, batchesDrawn, signal });
      tell({ history });
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    reading = false;
  };
  return {
    wants(batchesDrawn: number): void {
      wanted = batchesDrawn;
      // The watch ends with the same server, and says so.
      if (!reading) void read().catch(() => (reading = false));
    },
  };
}
