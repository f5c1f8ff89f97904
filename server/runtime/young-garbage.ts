/**
 * Young garbage, collected in a quiet moment. V8 does it when there is no more room, which mostly is while something is
 * made: for whoever asked for that, an answer of 6 ms takes 10 to 30.
 */
import { getHeapSpaceStatistics } from "node:v8";

/** How long nothing asked for it: an answer may still be on its way, and work comes in groups. */
const QUIET_MS = 20;
/** With less of it there is nothing to gain: V8 waits until there are 16 MiB. */
const GARBAGE_MIN = 4 * 1024 ** 2;

export interface YoungGarbage {
  bytes(): number;
  collect(): void;
}

/** V8's own, of a process that was started with --expose-gc; undefined in others, in which V8 decides alone. */
export function youngGarbage(): YoungGarbage | undefined {
  const { gc } = globalThis;
  if (gc === undefined) return undefined;
  return {
    bytes: () => getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")?.space_used_size ?? 0,
    collect: () => gc({ type: "minor" }),
  };
}

/** What it gives is to be called whenever something that was made in the background is done. */
export function collectInQuiet(garbage: YoungGarbage | undefined): () => void {
  if (garbage === undefined) return () => undefined;
  let timer: NodeJS.Timeout | undefined;
  const now = (): void => {
    timer = undefined;
    if (garbage.bytes() >= GARBAGE_MIN) garbage.collect();
  };
  return () => {
    clearTimeout(timer);
    timer = setTimeout(now, QUIET_MS).unref();
  };
}
