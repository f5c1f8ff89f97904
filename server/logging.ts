/** The server's log: JSON lines, or pretty ones on a terminal. */
import { pino } from "pino";
import type { Logger } from "pino";
import pretty from "pino-pretty";
import type { Config } from "./config.ts";

export type { Logger } from "pino";

export interface Log {
  readonly log: Logger;
  /** Lines dropped because whoever reads the log does not keep up. */
  dropped(): number;
  /** Writes out what is buffered, before it returns. */
  flush(): void;
}

/** Written in chunks of this size: one write for about twenty calls. */
const chunkBytes = 4096;
/** A line waits no longer than this for its chunk to fill. */
const flushEveryMs = 250;
/** A reader that does not keep up loses lines rather than fill the server's memory. */
const bufferBytesMax = 8 * 1024 ** 2;

/** Opens the log on a file descriptor, 1 (standard output) unless told otherwise. */
export function openLog(config: Pick<Config, "logLevel" | "logFormat">, descriptor = 1): Log {
  const terminal = descriptor === 1 && process.stdout.isTTY;
  const format = config.logFormat === "auto" ? (terminal ? "pretty" : "json") : config.logFormat;
  return format === "pretty" ? prettyLog(config.logLevel, descriptor) : jsonLog(config.logLevel, descriptor);
}

function jsonLog(level: string, descriptor: number): Log {
  const destination = pino.destination({
    dest: descriptor,
    sync: false,
    minLength: chunkBytes,
    maxLength: bufferBytesMax,
    periodicFlush: flushEveryMs,
  });
  let dropped = 0;
  destination.on("drop", () => (dropped += 1));
  const flush = () => destination.flushSync();
  process.once("exit", flush);
  return { log: pino({ level, base: null }, destination), dropped: () => dropped, flush };
}

function prettyLog(level: string, descriptor: number): Log {
  const stream = pretty({ destination: descriptor, sync: true, translateTime: "HH:MM:ss.l", singleLine: true });
  return { log: pino({ level, base: null }, stream), dropped: () => 0, flush: () => undefined };
}
