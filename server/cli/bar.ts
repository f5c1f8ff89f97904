/** A progress bar on standard error, where that is a terminal. */
import { Presets, SingleBar } from "cli-progress";

export interface Bar {
  /** Whether there is a terminal to show it on. */
  readonly visible: boolean;
  update(more: number, payload?: object): void;
  stop(): void;
}

export interface BarOptions {
  readonly done: number;
  readonly total: number;
  /** As cli-progress takes it; its other names are fields of the payload. */
  readonly format: string;
  readonly payload?: object;
  /** Left out: true. */
  readonly shown?: boolean;
}

/** Signals that end the process, which must not leave the terminal as the bar needs it: without line wrapping. */
const endings = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export function createBar({ done, total, format, payload = {}, shown = true }: BarOptions): Bar {
  if (!shown || !process.stderr.isTTY) return { visible: false, update: () => undefined, stop: () => undefined };
  const bar = new SingleBar({ format, stream: process.stderr }, Presets.shades_classic);
  const end = (signal: NodeJS.Signals): void => {
    stop();
    process.kill(process.pid, signal);
  };
  const stop = (): void => {
    bar.stop();
    // Only now: Ctrl-C comes twice, from the terminal and from the launcher, and the second would end the process here.
    for (const signal of endings) process.off(signal, end);
  };
  for (const signal of endings) process.on(signal, end);
  bar.start(total, done, payload);
  return { visible: true, update: (more, now) => bar.increment(more, now), stop };
}
