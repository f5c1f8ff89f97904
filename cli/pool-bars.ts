/** A progress bar for each pool that takes a while to read. */
import { type Bar, createBar } from "./bar.ts";

export interface PoolBars {
  readonly onProgress: (pool: string, done: number, total: number, stage: "reading" | "checking") => void;
  readonly stop: () => void;
}

export function poolBars(): PoolBars {
  let current: { readonly what: string; readonly bar: Bar } | undefined;
  const stop = (): void => {
    current?.bar.stop();
    current = undefined;
  };
  return {
    onProgress(pool, done, total, stage) {
      if (total === 1) return;
      const what = `${stage} pool ${pool}`;
      if (current?.what !== what) {
        stop();
        const format = `${what} {bar} {percentage}% | {eta_formatted} left`;
        current = { what, bar: createBar({ done: done - 1, total, format }) };
      }
      current.bar.update(1);
      if (done === total) stop();
    },
    stop,
  };
}
