/** Servers that mount environments in Python, by the host of this checkout's Python package. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { vi } from "vitest";
import { openServer, type TestServer } from "../in-process.ts";

const here = (path: string): string => join(import.meta.dirname, "../../..", path);

export const WORD_FILE = here("test/support/mounted/word.py");
export const DIGITS_FILE = here("test/support/mounted/digits.py");
export const GUESS_FILE = here("test/support/mounted/guess.py");
export const UNLAWFUL_TURNS_FILE = here("test/support/mounted/unlawful_turns.py");
export const PYTHON = here(".venv/bin/python");

/** Hosts find the Python package here, whatever is installed. */
export function useCheckout(): void {
  vi.stubEnv("PYTHONPATH", here("clients/python/src"));
}

export function openMounting(file: string, flags: Readonly<Record<string, unknown>> = {}): Promise<TestServer> {
  useCheckout();
  return openServer({ store: "memory", python: [PYTHON, file], mountWorkers: "2", workers: "1", ...flags });
}

/** Returns the process ids of the hosts that this process started. */
export function hostPids(): readonly number[] {
  try {
    const found = execFileSync("pgrep", ["-P", String(process.pid), "-f", "gradus.serve.host"], { encoding: "utf8" });
    return found.trim().split("\n").map(Number);
  } catch {
    return [];
  }
}
