/** A progress bar for each pool that takes a while to read. */
import { type Bar, createBar } from "./bar.ts";

export interface PoolBars {
  readonly onProgress: (pool: string, done: number, total: number) => void;
  readonly stop: () => void;
}

export function poolBars(): PoolBars {
  let current: { readonly pool: string; readonly bar: Bar } | undefined;
  const stop = (): void => {
    current?.bar.stop();
    current = undefined;
  };
  return {
    onProgress(pool, done, total) {
      if (total === 1) return;
      if (current?.pool !== pool) {
        stop();
        const format = `reading pool ${pool} {bar} {percentage}% | {eta_formatted} left`;
        current = { pool, bar: createBar({ done: done - 1, total, format }) };
      }
      current.bar.update(1);
      if (done === total) stop();
    },
    stop,
  };
}
