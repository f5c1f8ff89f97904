/**
 * Progress bars for activities such as reading pools (files of tasks). Only one bar is shown at a time, for the latest
 * activity.
 */
import { type Bar, createBar } from "./bar.ts";

export interface Bars {
  readonly onProgress: (what: string, done: number, total: number) => void;
  readonly stop: () => void;
}

export function progressBars(): Bars {
  let current: { readonly what: string; readonly bar: Bar; done: number } | undefined;
  const stop = (): void => {
    current?.bar.stop();
    current = undefined;
  };
  return {
    onProgress(what, done, total) {
      if (total === 1) return;
      if (current?.what !== what) {
        stop();
        const format = `${what} {bar} {percentage}% | {left}`;
        current = { what, bar: createBar({ done: done - 1, total, format }), done: done - 1 };
      }
      current.bar.update(done - current.done);
      current.done = done;
      if (done === total) stop();
    },
    stop,
  };
}

/** Makes progress bars for reading and checking pools. */
export function poolBars() {
  const { onProgress, stop } = progressBars();
  return {
    onProgress: (pool: string, done: number, total: number, stage: "reading" | "checking"): void =>
      onProgress(`${stage} pool ${pool}`, done, total),
    stop,
  };
}

/** Makes progress bars for checking the levels of providers, which are programs that serve further environments. */
export function mountBars(): Bars {
  const { onProgress, stop } = progressBars();
  return { onProgress: (mount, done, total) => onProgress(`trying levels of ${mount}`, done, total), stop };
}
