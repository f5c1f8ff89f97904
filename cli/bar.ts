/** Progress on standard error: a bar where that is a terminal, and a line now and then where it is a file or a pipe. */
import { Presets, SingleBar } from "cli-progress";
import { isQuiet } from "./notes.ts";

/** What a format names beside the count. */
export type Payload = Readonly<Record<string, string | number>>;

export interface Bar {
  /** Whether there is a terminal to show it on. */
  readonly visible: boolean;
  update(more: number, payload?: Payload): void;
  stop(): void;
}

export interface BarOptions {
  readonly done: number;
  readonly total: number;
  /** As cli-progress takes it; its other names are fields of the payload. */
  readonly format: string;
  readonly payload?: Payload;
  /** Left out: true. */
  readonly shown?: boolean;
}

/** Signals that end the process, which must not leave the terminal as the bar needs it: without line wrapping. */
const endings = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The first line comes after this, and each next one after twice as long, up to a minute. */
const LINE_AFTER_MS = 5_000;
const LINE_AFTER_MAX_MS = 60_000;

export function createBar(options: BarOptions): Bar {
  if (options.shown === false || isQuiet()) return { visible: false, update: () => undefined, stop: () => undefined };
  return process.stderr.isTTY ? onTerminal(options) : inLines(options);
}

function onTerminal({ done, total, format, payload = {} }: BarOptions): Bar {
  const startMs = performance.now();
  let steps = 0;
  const formatTime = (): string => timeLeft(performance.now() - startMs, steps, total - done - steps);
  const bar = new SingleBar({ format, stream: process.stderr, formatTime }, Presets.shades_classic);
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
  const update = (more: number, now?: Payload): void => {
    steps += more;
    bar.increment(more, now);
  };
  return { visible: true, update, stop };
}

/** The same words, without the bar. */
function inLines({ done, total, format, payload = {} }: BarOptions): Bar {
  const startMs = performance.now();
  let [steps, shown, afterMs] = [0, payload, LINE_AFTER_MS];
  const line = (): string => {
    const value = done + steps;
    const left = timeLeft(performance.now() - startMs, steps, total - value);
    const percentage = total === 0 ? 100 : Math.floor((100 * value) / total);
    const known = new Map(Object.entries({ ...shown, value, total, percentage, eta_formatted: left }));
    return format.replace("{bar} ", "").replaceAll(/\{(\w+)\}/g, (_, name: string) => `${known.get(name) ?? ""}`);
  };
  const say = (): void => {
    console.error(line());
    afterMs = Math.min(2 * afterMs, LINE_AFTER_MAX_MS);
    timer = setTimeout(say, afterMs).unref();
  };
  let timer = setTimeout(say, afterMs).unref();
  const update = (more: number, now: Payload = shown): void => {
    steps += more;
    shown = now;
  };
  return { visible: false, update, stop: () => clearTimeout(timer) };
}

/**
 * How long a piece of work will still take, in words. By the mean pace since it began. The pace of the last few steps says little where many are under way at once: they end
 * in bursts, between which it seems that nothing will ever end.
 */
export function timeLeft(elapsedMs: number, steps: number, stepsLeft: number): string {
  if (stepsLeft <= 0) return "0s";
  return steps <= 0 ? "?" : duration(((elapsedMs / steps) * stepsLeft) / 1000);
}

function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole}s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? `${minutes}m` : `${Math.floor(minutes / 60)}h${minutes % 60 === 0 ? "" : `${minutes % 60}m`}`;
}
