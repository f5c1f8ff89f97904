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
}

/** Signals that end the process, which must not leave the terminal as the bar needs it: without line wrapping. */
const endings = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export function createBar({ done, total, format, payload = {} }: BarOptions): Bar {
  if (!process.stderr.isTTY) return { visible: false, update: () => undefined, stop: () => undefined };
  const bar = new SingleBar({ format, stream: process.stderr }, Presets.shades_classic);
  const end = (signal: NodeJS.Signals): void => {
    stop();
    process.kill(process.pid, signal);
  };
  const stop = (): void => {
    for (const signal of endings) process.off(signal, end);
    bar.stop();
  };
  for (const signal of endings) process.on(signal, end);
  bar.start(total, done, payload);
  return { visible: true, update: (more, now) => bar.increment(more, now), stop };
}
