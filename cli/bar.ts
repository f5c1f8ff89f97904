/** Shows progress on standard error: as a bar on a terminal, and as an occasional line in a file or a pipe. */
import { Presets, SingleBar } from "cli-progress";
import { longestSilence, type Silence } from "../server/runtime/model-requests.ts";
import { drawnOn, say, shown } from "../server/runtime/terminal.ts";
import { isQuiet } from "./notes.ts";

/**
 * Values for the placeholders in a bar's format, e.g. {reward}. The bar itself fills in {value}, {total}, {percentage}
 * and {left}.
 */
export type Payload = Readonly<Record<string, string | number>>;

export interface Bar {
  /** Whether a bar is drawn on a terminal. False if the progress is printed as lines, or is hidden. */
  readonly visible: boolean;
  update(more: number, payload?: Payload): void;
  stop(): void;
}

export interface BarOptions {
  readonly done: number;
  readonly total: number;
  /**
   * Format string of the library cli-progress, where {left} stands for the remaining time. Other placeholders are
   * fields of `payload`.
   */
  readonly format: string;
  readonly payload?: Payload;
  /** Whether to show progress. Defaults to true. */
  readonly shown?: boolean;
}

/** Signals that end the process. On such a signal, the bar restores the terminal's line wrapping first. */
const endings = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Delay before the first progress line, in milliseconds. Each further delay is twice as long, up to a minute. */
const LINE_AFTER_MS = 5_000;
const LINE_AFTER_MAX_MS = 60_000;

export function createBar(options: BarOptions): Bar {
  if (options.shown === false || isQuiet()) return { visible: false, update: () => undefined, stop: () => undefined };
  return process.stderr.isTTY ? onTerminal(options) : inLines(options);
}

function onTerminal({ done, total, format, payload = {} }: BarOptions): Bar {
  const pace = createPace(total - done);
  const words = format.replace("{left}", "{eta_formatted}");
  const fit = (values: Payload): Payload =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, shown(String(value))]));
  const bar = new SingleBar(
    { format: shown(words), stream: drawnOn.bars, formatTime: pace.left },
    Presets.shades_classic,
  );
  const end = (signal: NodeJS.Signals): void => {
    stop();
    process.kill(process.pid, signal);
  };
  const stop = (): void => {
    bar.stop();
    // Remove the handlers last. Ctrl-C arrives twice, from the terminal and from the npx that started this process. The
    // second signal would otherwise end the process before the bar is stopped.
    for (const signal of endings) process.off(signal, end);
  };
  for (const signal of endings) process.on(signal, end);
  bar.start(total, done, fit(payload));
  const update = (more: number, now?: Payload): void => {
    pace.step(more);
    bar.increment(more, now && fit(now));
  };
  return { visible: true, update, stop };
}

/** Prints the progress as a line of text from time to time. Used if standard error is not a terminal. */
function inLines({ done, total, format, payload = {} }: BarOptions): Bar {
  const pace = createPace(total - done);
  let [value, latest, afterMs] = [done, payload, LINE_AFTER_MS];
  const line = (): string => {
    const percentage = total === 0 ? 100 : Math.floor((100 * value) / total);
    const known = new Map(Object.entries({ ...latest, value, total, percentage, left: pace.left() }));
    return format.replace("{bar} ", "").replaceAll(/\{(\w+)\}/g, (_, name: string) => `${known.get(name) ?? ""}`);
  };
  const tell = (): void => {
    say(line());
    afterMs = Math.min(2 * afterMs, LINE_AFTER_MAX_MS);
    timer = setTimeout(tell, afterMs).unref();
  };
  let timer = setTimeout(tell, afterMs).unref();
  const update = (more: number, now: Payload = latest): void => {
    value += more;
    pace.step(more);
    latest = now;
  };
  return { visible: false, update, stop: () => clearTimeout(timer) };
}

/**
 * Measures the pace of work with `total` steps. `step` records finished steps. `left` returns the remaining time in
 * words. If no step has finished for a long time, `left` says so instead, and says why.
 */
function createPace(total: number) {
  const startMs = performance.now();
  let [steps, lastMs] = [0, startMs];
  const step = (more: number): void => {
    steps += more;
    if (more > 0) lastMs = performance.now();
  };
  const left = (): string => {
    const now = performance.now();
    const [stalledMs, paceMs] = [now - lastMs, (lastMs - startMs) / steps];
    const silence = stalledMs < STALLED_AFTER_MS ? undefined : longestSilence();
    if (silence !== undefined && now - silence.sinceMs >= STALLED_AFTER_MS) return silenceText(silence, now);
    if (stalledMs > Math.max(STALLED_AFTER_MS, STALLED_STEPS * paceMs))
      return `nothing done for ${duration(stalledMs)}`;
    return `${timeLeft(now - startMs, steps, total - steps)} left`;
  };
  return { step, left };
}

/**
 * Time in milliseconds without a finished step. After it, a bar says what the work waits for instead of the remaining
 * time.
 */
const STALLED_AFTER_MS = 15_000;
/**
 * Number of mean intervals between steps that must pass without a finished step before a bar reports that nothing is
 * done. It is large because steps may finish in bursts.
 */
const STALLED_STEPS = 20;

function silenceText({ address, sinceMs, waiting, limitMs }: Silence, now: number): string {
  const requests = waiting === 1 ? "1 request waits" : `${waiting} requests wait`;
  return `no reply from ${address} for ${duration(now - sinceMs)} (${requests}; the time limit of a request is ${duration(limitMs)})`;
}

/**
 * Returns the remaining time in words, by the mean pace since the start. The pace of the last few steps would be
 * misleading, because concurrent steps finish in bursts with pauses between them.
 */
export function timeLeft(elapsedMs: number, steps: number, stepsLeft: number): string {
  if (stepsLeft <= 0) return "0s";
  return steps <= 0 ? "?" : duration((elapsedMs / steps) * stepsLeft);
}

function duration(ms: number): string {
  if (ms <= 59_000) return `${Math.ceil(ms / 1000)}s`;
  const minutes = Math.ceil(ms / 60_000);
  return minutes < 60 ? `${minutes}m` : `${Math.floor(minutes / 60)}h${minutes % 60 === 0 ? "" : `${minutes % 60}m`}`;
}
