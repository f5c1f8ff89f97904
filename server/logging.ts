/** The server's log: JSON lines, or pretty ones on a terminal. */
import { pino } from "pino";
import type { Logger } from "pino";
import pretty from "pino-pretty";
import type { Config } from "./config.ts";
import { createLineWriter } from "./log-writer.ts";

export type { Logger } from "pino";

export interface Log {
  readonly log: Logger;
  /** Lines dropped because whoever reads the log does not keep up. */
  readonly dropped: () => number;
  /** Writes out what is buffered, before it returns. */
  readonly flush: () => void;
}

/** Opens the log on a file descriptor, 1 (standard output) unless told otherwise. */
export function openLog(config: Pick<Config, "logLevel" | "logFormat">, descriptor = 1): Log {
  const terminal = descriptor === 1 && process.stdout.isTTY;
  const format = config.logFormat === "auto" ? (terminal ? "pretty" : "json") : config.logFormat;
  return format === "pretty" ? prettyLog(config.logLevel, descriptor) : jsonLog(config.logLevel, descriptor);
}

function jsonLog(level: string, descriptor: number): Log {
  const writer = createLineWriter(descriptor);
  process.once("exit", writer.flushSync);
  return { log: pino({ level, base: null }, writer), dropped: writer.dropped, flush: writer.flushSync };
}

function prettyLog(level: string, descriptor: number): Log {
  const stream = pretty({ destination: descriptor, sync: true, translateTime: "HH:MM:ss.l", singleLine: true });
  return { log: pino({ level, base: null }, stream), dropped: () => 0, flush: () => undefined };
}
