/** Writes the server's log: JSON lines, or a readable form on a terminal. */
import { type Logger, type LoggerOptions, pino } from "pino";
import pretty from "pino-pretty";
import sonicBoom from "sonic-boom";
import type { Config } from "./config.ts";
import { escapedInJson } from "../../envs/lib/escape.ts";
import { createLastErrors, type LoggedError } from "./last-errors.ts";
import { secretCutter } from "./secrets.ts";

export interface Log {
  readonly log: Logger;
  /** Returns the number of lines that were dropped because the log's reader was too slow or gone. */
  readonly dropped: () => number;
  /** Returns the last errors that were logged, newest first. */
  readonly lastErrors: () => readonly LoggedError[];
  /** Writes all buffered lines before it returns. */
  readonly flush: () => void;
}

/**
 * Interval between writes, in milliseconds. At tens of thousands of lines a second, a write must carry many lines to be
 * cheap.
 */
const writeEveryMs = 100;
/**
 * Maximum bytes of the buffer. If the log's reader is too slow, lines are dropped, so that they do not fill the
 * server's memory.
 */
const heldBytesMax = 8 * 1024 ** 2;
/**
 * Maximum number of attempts, one every 100 ms, to write to a full pipe when the process ends. Then the remaining lines
 * are lost.
 */
const lastTries = 10;

/** Opens the log on a file descriptor; defaults to 1 (standard output). */
export function openLog(config: LogConfig, descriptor = 1): Log {
  const terminal = descriptor === 1 && process.stdout.isTTY;
  const format = config.logFormat === "auto" ? (terminal ? "pretty" : "json") : config.logFormat;
  const { token, judge, teacher } = config;
  const cut = secretCutter([token, judge?.key, teacher?.key]);
  const lastErrors = createLastErrors();
  const options = {
    level: config.logLevel,
    // If the server has several processes, each line includes its process id.
    base: (config.processes ?? 1) === 1 ? null : { pid: process.pid },
    // The hook removes secrets and terminal control characters from every line.
    hooks: { streamWrite: (line: string) => lastErrors.seen(escapedInJson(cut(line))) },
  };
  const opened = format === "pretty" ? prettyLog(options, descriptor) : jsonLog(options, descriptor);
  return { ...opened, lastErrors: lastErrors.all };
}

type LogConfig = Pick<Config, "logLevel" | "logFormat"> &
  Partial<Pick<Config, "processes" | "token" | "judge" | "teacher">>;

type Written = Omit<Log, "lastErrors">;

function jsonLog(options: LoggerOptions, descriptor: number): Written {
  const stream = new sonicBoom.SonicBoom({
    fd: descriptor,
    sync: false,
    // In the mode "utf8", sonic-boom counts the bytes of the whole buffer for each line, which takes 12 µs for 64 KiB.
    contentMode: "buffer",
    // Lines are written only at fixed times. If each line began a write, that write could be unfinished when the
    // process ends, and its rest would be lost.
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
    // After other errors, sonic-boom tries again: a full disk may have room later.
    readerGone ||= code === "EPIPE";
  });
  // sonic-boom's types allow only strings, but in this mode it takes buffers.
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
      // The reader is gone or stuck, or the disk is full, so the error cannot be reported anywhere.
    }
    ending = 0;
  };
  process.once("exit", flush);
  return { log: pino(options, { write }), dropped: () => dropped, flush };
}

function prettyLog(options: LoggerOptions, descriptor: number): Written {
  const stream = pretty({ destination: descriptor, sync: true, translateTime: "HH:MM:ss.l", singleLine: true });
  return { log: pino(options, stream), dropped: () => 0, flush: () => undefined };
}
