/** The server's log: JSON lines, or pretty ones on a terminal. */
import { write, writeSync } from "node:fs";
import { type Logger, pino } from "pino";
import pretty from "pino-pretty";
import type { Config } from "./config.ts";

// Writes lines to a file descriptor in large pieces, off the event loop. At tens of thousands of lines a second the
// price of a line is that of its share in a write: measured, 64 KiB at a time cost a fifth of what 4 KiB do.

export interface LineWriter {
  readonly write: (line: string) => void;
  /** Lines dropped because whoever reads them does not keep up, or is gone. */
  readonly dropped: () => number;
  /** Writes out what is held, before it returns. */
  readonly flushSync: () => void;
}

/** As soon as so much is held, it is written. */
const pieceLength = 64 * 1024;
/** A line waits no longer than this for its piece to fill. */
const holdMs = 100;
/** A reader that does not keep up loses lines rather than fill the server's memory. */
const heldLengthMax = 8 * 1024 ** 2;
/** A pipe that is full and does not block is tried again after this. */
const retryMs = 20;
/** How often a full pipe is tried again when the process ends. */
const lastTries = 50;

function createLineWriter(descriptor: number): LineWriter {
  let held = "";
  let dropped = 0;
  let writing = false;
  let soon = false;
  let later = false;

  const writeAll = (piece: Buffer): void => {
    write(descriptor, piece, (error, count) => {
      if (error === null && count < piece.length) return writeAll(piece.subarray(count));
      if (error?.code === "EAGAIN") return void setTimeout(() => writeAll(piece), retryMs);
      if (error !== null) dropped += linesIn(piece);
      writing = false;
      schedule();
    });
  };
  const start = (): void => {
    if (writing || held === "") return;
    writing = true;
    const piece = Buffer.from(held);
    held = "";
    writeAll(piece);
  };
  // Never at once, so that what is held when the process ends is written in order, by flushSync.
  const schedule = (): void => {
    if (held.length >= pieceLength && !soon) {
      soon = true;
      setImmediate(() => {
        soon = false;
        start();
      });
    } else if (held !== "" && !later) {
      later = true;
      const timer = setTimeout(() => {
        later = false;
        start();
      }, holdMs);
      timer.unref();
    }
  };

  return {
    write: (line) => {
      if (held.length + line.length > heldLengthMax) dropped += 1;
      else held += line;
      if (!writing) schedule();
    },
    dropped: () => dropped,
    flushSync: () => {
      const piece = Buffer.from(held);
      held = "";
      dropped += linesIn(writeNow(descriptor, piece));
    },
  };
}

function linesIn(piece: Buffer): number {
  return piece.toString().split("\n").length - 1;
}

/** Gives what could not be written. */
function writeNow(descriptor: number, piece: Buffer): Buffer {
  let rest = piece;
  for (let tries = 0; rest.length > 0 && tries < lastTries;) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") break;
      tries += 1;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMs);
    }
  }
  return rest;
}

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
