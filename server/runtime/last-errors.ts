/** Keeps the last errors that were logged, so that an operator sees them without reading the log. */
import { onOneLine } from "../../envs/lib/escape.ts";

export interface LoggedError {
  /** Time of the log line, Unix time in milliseconds. */
  readonly timeMs: number;
  /** Service and method of the call. Empty: the error was in no call. */
  readonly method: string;
  /** Request id of the call. Empty: the error was in no call, or the log line names none. */
  readonly requestId: string;
  /** Message of the log line and of the error, on one line and without secrets. */
  readonly message: string;
}

/** Number of errors that are kept. */
const KEPT = 10;
/**
 * Maximum length of each text of an error (method, request id, message), in UTF-16 units. Only the log has the rest.
 */
const LENGTH_MAX = 500;

/** Beginnings of log lines of the levels error (50) and fatal (60). The logger writes the level first. */
const BEGINS = ['{"level":50,', '{"level":60,'];

interface Line {
  readonly time?: number;
  readonly method?: string;
  readonly requestId?: string;
  readonly msg?: string;
  readonly err?: { readonly message?: string };
}

export function createLastErrors() {
  const kept: LoggedError[] = [];
  return {
    /**
     * Keeps the error in a JSON log line, if the line has the level error or fatal. Returns the line unchanged. Secrets
     * must have been removed before.
     */
    seen(line: string): string {
      if (!BEGINS.some((begin) => line.startsWith(begin))) return line;
      const { time = 0, method = "", requestId = "", msg = "", err } = lineOf(line);
      const message = [msg, err?.message ?? ""].filter((words) => words !== "").join(": ");
      kept.unshift({ timeMs: time, method: fit(method), requestId: fit(requestId), message: fit(message) });
      kept.length = Math.min(kept.length, KEPT);
      return line;
    },
    /** Returns the errors that are kept, newest first. */
    all: (): readonly LoggedError[] => [...kept],
  };
}

/** Parses a log line. A line that is not JSON is its own message. */
function lineOf(line: string): Line {
  try {
    return JSON.parse(line) as Line;
  } catch {
    return { msg: line };
  }
}

function fit(words: string): string {
  const short = words.length > LENGTH_MAX ? `${words.slice(0, LENGTH_MAX)}…` : words;
  return onOneLine(short);
}
