/**
 * Young garbage, collected in a quiet moment. V8 does it when there is no more room, which mostly is while something is
 * made: for whoever asked for that, an answer of 6 ms takes 10 to 30.
 */
import { getHeapSpaceStatistics } from "node:v8";

/** How long nothing asked for it: an answer may still be on its way, and work comes in groups. */
const QUIET_MS = 20;
/** With less of it there is nothing to gain: V8 waits until there are 16 MiB. */
const GARBAGE_MIN = 4 * 1024 ** 2;
/** Of that time. Beside more work it would be one collection more, and wait for what that work has just made. */
const BUSY_MAX = 0.25;

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

/** Begins to look how busy the event loop is; what it gives says how much of the time since then it was, from 0 to 1. */
export type WatchLoop = () => () => number;

const watchLoop: WatchLoop = () => {
  const before = performance.eventLoopUtilization();
  return () => performance.eventLoopUtilization(before).utilization;
};

/** What it gives is to be called whenever something that was made in the background is done. */
export function collectInQuiet(garbage: YoungGarbage | undefined, watch: WatchLoop = watchLoop): () => void {
  if (garbage === undefined) return () => undefined;
  let timer: NodeJS.Timeout | undefined;
  return () => {
    clearTimeout(timer);
    const busyShare = watch();
    const collect = (): void => {
      if (busyShare() <= BUSY_MAX && garbage.bytes() >= GARBAGE_MIN) garbage.collect();
    };
    timer = setTimeout(collect, QUIET_MS).unref();
  };
}
