/** The server's log: JSON lines, or pretty ones on a terminal. */
import { type Logger, type LoggerOptions, pino } from "pino";
import pretty from "pino-pretty";
import sonicBoom from "sonic-boom";
import type { Config } from "./config.ts";
import { escapedInJson } from "../../envs/lib/words.ts";
import { secretCutter } from "./secrets.ts";

export interface Log {
  readonly log: Logger;
  /** Lines dropped because whoever reads the log does not keep up, or is gone. */
  readonly dropped: () => number;
  /** Writes out what is buffered, before it returns. */
  readonly flush: () => void;
}

/** At tens of thousands of lines a second the price of a line is that of its share in a write. */
const writeEveryMs = 100;
/** A reader that does not keep up loses lines rather than fill the server's memory. */
const heldBytesMax = 8 * 1024 ** 2;
/** How often a pipe that is full is tried again, every 100 ms, before what it cannot take is given up at the end. */
const lastTries = 10;

/** Opens the log on a file descriptor, 1 (standard output) unless told otherwise. */
export function openLog(config: LogConfig, descriptor = 1): Log {
  const terminal = descriptor === 1 && process.stdout.isTTY;
  const format = config.logFormat === "auto" ? (terminal ? "pretty" : "json") : config.logFormat;
  const { token, judge, teacher } = config;
  const cut = secretCutter([token, judge?.key, teacher?.key]);
  const options = {
    level: config.logLevel,
    // Of several processes of a server, which one it is.
    base: (config.processes ?? 1) === 1 ? null : { pid: process.pid },
    // Whoever wrote a line's texts, it holds no secret, and nothing that a terminal obeys.
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
    // In the other mode it counts the bytes of all that it holds again for each line: 12 µs for 64 KiB.
    contentMode: "buffer",
    // It writes by the clock alone. A write that a line began would still be on its way where the process ends at once,
    // and what the pipe did not take of it would be lost.
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
    // After other errors it tries again what it holds: a disk that is full may have room later.
    readerGone ||= code === "EPIPE";
  });
  // Its types know only of texts.
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
