/** Follows one run live: its state as the server streams it, and its history. */
import { useEffect, useRef, useState } from "preact/hooks";
import { GradusError } from "../../../clients/ts/src/errors.ts";
import { type Gradus, gradus, noteFailure, returns, token } from "../connection.ts";
import { type History, readHistory, STEPS } from "./history.ts";
import { type Line, linesOf } from "./lines.ts";
import { type ReadRun, readRun } from "./state.ts";
import { watchRun } from "./watch.ts";

/**
 * Pause between two reads of the history of a running run, in milliseconds. A chart of a few hundred steps does not
 * change faster.
 */
const PAUSE_MS = 2_000;
/** Delay before a broken stream of a run's states is opened again, in milliseconds. */
const AGAIN_MS = 2_000;
/** Codes of errors that are final: a retry would give the same error. */
const FINAL: readonly string[] = [
  "NOT_FOUND",
  "INVALID_ARGUMENT",
  "PERMISSION_DENIED",
  "UNAUTHENTICATED",
  "UNIMPLEMENTED",
];

function isFinal(error: unknown): boolean {
  return !(error instanceof GradusError) || FINAL.includes(error.code);
}

export interface Followed {
  readonly run: ReadRun | undefined;
  readonly history: History | undefined;
  readonly error: Error | undefined;
}

const nothing: Followed = { run: undefined, history: undefined, error: undefined };

/** Follows a run. Arms that match the search text `q` are shown as lines. */
export function useRun(runId: string, q: string): Followed {
  const [followed, setFollowed] = useState<Followed>(nothing);
  const [visible, setVisible] = useState(!document.hidden);
  useEffect(() => {
    const note = () => setVisible(!document.hidden);
    document.addEventListener("visibilitychange", note);
    return () => document.removeEventListener("visibilitychange", note);
  }, []);
  const client = gradus.value;
  const following = useRef<Following>(undefined);
  const [begun, setBegun] = useState(0);
  useEffect(() => {
    // Follow nothing while the page is hidden.
    if (!visible) return undefined;
    const leaving = new AbortController();
    const { signal } = leaving;
    let waiting: ReturnType<typeof setTimeout> | undefined;
    const tell = (news: Partial<Followed>) => {
      if (!signal.aborted) setFollowed((before) => ({ ...before, error: undefined, ...news }));
    };
    const watched = watchHistory(client, runId, signal, tell);
    following.current = watched;
    watched.search(q);
    follow(client, { runId, signal, tell, watched }).catch((error: unknown) => {
      if (signal.aborted) return;
      tell({ error: noteFailure(error) });
      // Open the stream again if the server ended it but still answers, e.g. behind a load balancer. connection.ts waits
      // for a server that is down.
      if (!isFinal(error)) waiting = setTimeout(() => setBegun((times) => times + 1), AGAIN_MS);
    });
    return () => {
      clearTimeout(waiting);
      leaving.abort();
    };
  }, [runId, client, returns.value, visible, begun]);
  useEffect(() => following.current?.search(q), [q]);
  return followed;
}

interface Follower {
  readonly runId: string;
  readonly signal: AbortSignal;
  readonly tell: (news: Partial<Followed>) => void;
  readonly watched: Following;
}

async function follow(client: Gradus, { runId, signal, tell, watched }: Follower): Promise<void> {
  let run = readRun(await client.run(runId).get({ signal }));
  if (run === undefined) throw new Error("this server cannot read the run; its log says why");
  tell({ run });
  watched.sees(run);
  for await (const state of watchRun(client, { runId, token: token.peek(), signal })) {
    run = { ...run, state };
    tell({ run });
    watched.sees(run);
  }
  if (!signal.aborted) throw new Error("the run was deleted");
}

interface Following {
  /** Receives a new state of the run, after which its history may have grown. */
  readonly sees: (run: ReadRun) => void;
  readonly search: (q: string) => void;
}

/** Reads a run's history whenever the history has grown or the charts show other lines, one read at a time. */
function watchHistory(
  client: Gradus,
  runId: string,
  signal: AbortSignal,
  tell: (news: Partial<Followed>) => void,
): Following {
  const linesFor = lastLines();
  let history: History | undefined;
  let seen: ReadRun | undefined;
  let [wanted, reading] = [false, false];
  let q = "";
  let pause: (() => void) | undefined;
  const read = async () => {
    reading = true;
    while (wanted && seen !== undefined && !signal.aborted) {
      wanted = false;
      const { state } = seen;
      const byLine = { lines: linesFor(seen, q), armCount: state.arms.length };
      try {
        history = await readHistory(client, history, { runId, state, steps: STEPS, signal, byLine });
        tell({ history });
      } catch (error) {
        if (signal.aborted) return;
        // Read again after an error that may pass, because nothing else triggers a read for a run that has ended.
        wanted ||= !isFinal(error);
        if (history === undefined) tell({ error: noteFailure(error) });
      }
      await new Promise<void>((resolve) => {
        pause = resolve;
        setTimeout(resolve, PAUSE_MS);
      });
    }
    reading = false;
  };
  const want = () => {
    wanted = true;
    if (!reading) void read();
  };
  return {
    sees(run) {
      const isNews = seen?.state.version !== run.state.version;
      seen = run;
      if (isNews) want();
    },
    search(text) {
      if (text === q) return;
      q = text;
      if (seen === undefined) return;
      want();
      pause?.();
    },
  };
}

/**
 * Returns a function that computes the lines for a search. The function returns the same array as long as the search
 * and the arms stay the same.
 */
function lastLines(): (run: ReadRun, q: string) => readonly Line[] {
  let [last, lines] = ["", [] as readonly Line[]];
  return (run, q) => {
    const wanted = q.toLowerCase();
    const now = [wanted, ...run.state.arms.map(({ armId }) => armId)].join("\n");
    if (now !== last) [last, lines] = [now, linesOf(run, (armId) => armId.toLowerCase().includes(wanted))];
    return lines;
  };
}
