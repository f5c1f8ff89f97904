/**
 * Writes texts to the terminal safely; all code must write through this file. Texts may come from models or other
 * servers, so control characters and direction marks are escaped. Only Gradus's own styles stay.
 */
import { randomBytes } from "node:crypto";
import { styleText } from "node:util";
import { escapedLines } from "../../envs/lib/escape.ts";

/** Placeholder for the escape character of Gradus's own styles. It is random, so that no other text contains it. */
const ESCAPE = `\u{e000}${randomBytes(8).toString("hex")}`;

type StreamName = "stdout" | "stderr";

/**
 * Returns a text in a style, for `say` and `write`. The text stays plain if the stream shows no colours, unless
 * FORCE_COLOR is set.
 */
export function inColour(style: Parameters<typeof styleText>[0], text: string, stream: StreamName = "stderr"): string {
  return styleText(style, escapedLines(text), { stream: process[stream] }).replaceAll("\u001b", ESCAPE);
}

/** Returns a text that is safe for a terminal. Line feeds, tabs and styles of `inColour` stay. */
export function shown(text: string): string {
  return escapedLines(text).replaceAll(ESCAPE, "\u001b");
}

/** Writes a text to standard output, safely. Resolves when the stream has taken it. */
export function write(text: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(shown(text), () => resolve()));
}

/** Writes a line to standard error, safely. */
export function say(text: string): void {
  console.error(shown(text));
}

/**
 * The streams themselves, for code that draws with its own escape sequences: cli/bar.ts and cli/runs/screen.ts. Such
 * code must pass all other texts through `shown`.
 */
export const drawnOn = { bars: process.stderr, screen: process.stdout };
