/** Writes the server's log: JSON lines, or a readable form on a terminal. */
import { type Logger, type LoggerOptions, pino } from "pino";
import pretty from "pino-pretty";
import sonicBoom from "sonic-boom";
import type { Config } from "./config.ts";
import { escapedInJson } from "../../envs/lib/escape.ts";
import { secretCutter } from "./secrets.ts";

export interface Log {
  readonly log: Logger;
  /** Number of lines dropped because the log's reader does not keep up, or is gone. */
  readonly dropped: () => number;
  /** Writes all buffered lines before it returns. */
  readonly flush: () => void;
}

/**
 * Interval between writes, in milliseconds: at tens of thousands of lines a second, one write must carry many lines to
 * be cheap.
 */
const writeEveryMs = 100;
/**
 * Maximum bytes of the buffer: if the reader does not keep up, lines are dropped rather than fill the server's memory.
 */
const heldBytesMax = 8 * 1024 ** 2;
/** Number of times that a full pipe is tried again at the end, every 100 ms, before the rest is given up. */
const lastTries = 10;

/** Opens the log on a file descriptor; defaults to 1 (standard output). */
export function openLog(config: LogConfig, descriptor = 1): Log {
  const terminal = descriptor === 1 && process.stdout.isTTY;
  const format = config.logFormat === "auto" ? (terminal ? "pretty" : "json") : config.logFormat;
  const { token, judge, teacher } = config;
  const cut = secretCutter([token, judge?.key, teacher?.key]);
  const options = {
    level: config.logLevel,
    // With several processes, each line names its process.
    base: (config.processes ?? 1) === 1 ? null : { pid: process.pid },
    // Removes secrets and terminal control characters from every line, whatever the source of its texts.
    hooks: { streamWrite: (line: string) => escapedInJson(cut(line)) },
  };
  return format === "pretty" ? prettyLog(options, descriptor) : jsonLog(options, descriptor);
}

type LogConfig = Pick<Config, "logLevel" | "logFormat"> &
  Partial<Pick<Config, "processes" | "token" | "judge" | "teacher">>;

function jsonLog(options: LoggerOptions, descriptor: number): Log {
  const stream = new sonicBoom.SonicBoom({
    fd: descriptor,
    sync: false,
    // The other mode counts the bytes of the whole buffer again for each line: 12 µs for 64 KiB.
    contentMode: "buffer",
    // Writes happen only at fixed times. A write that a line began could still be in progress when the process ends,
    // and the part that the pipe did not take would be lost.
    periodicFlush: writeEveryMs,
    minLength: heldBytesMax - 1,
    maxWrite: heldBytesMax,
    maxLength: heldBytesMax,
    retryEAGAIN: () => ending === 0 || ending++ <= lastTries,
  });
  let dropped = 0;
  let ending = 0;
  let readerGone = false;
  stream.on("drop", () => (dropped += 1));
  stream.on("error", ({ code }: NodeJS.ErrnoException) => {
    // After other errors the stream tries again: a full disk may have room later.
    readerGone ||= code === "EPIPE";
  });
  // sonic-boom's types allow only texts.
  const write = (line: string): void => {
    if (readerGone) dropped += 1;
    else stream.write(Buffer.from(line) as unknown as string);
  };
  const flush = (): void => {
    if (readerGone) return;
    ending = 1;
    try {
      stream.flushSync();
    } catch {
      // The reader is gone or stuck, or the disk is full, and there is nobody else to tell.
    }
    ending = 0;
  };
  process.once("exit", flush);
  return { log: pino(options, { write }), dropped: () => dropped, flush };
}

function prettyLog(options: LoggerOptions, descriptor: number): Log {
  const stream = pretty({ destination: descriptor, sync: true, translateTime: "HH:MM:ss.l", singleLine: true });
  return { log: pino(options, stream), dropped: () => 0, flush: () => undefined };
}
