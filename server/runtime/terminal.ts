/**
 * The only way to the standard streams. A text may come from a module, a host, a provider or a model, and the terminal
 * obeys none of it: control characters and direction marks are written out, and only our own styles stay.
 */
import { randomBytes } from "node:crypto";
import { styleText } from "node:util";
import { escapedLines } from "../../envs/lib/escape.ts";

/** Stands for the escape character of our own styles. It is random, so that no foreign text contains it. */
const ESCAPE = `\u{e000}${randomBytes(8).toString("hex")}`;

type StreamName = "stdout" | "stderr";

/** Returns a text in a style for `say` and `write`, if the stream shows colours, or FORCE_COLOR asks for them. */
export function inColour(style: Parameters<typeof styleText>[0], text: string, stream: StreamName = "stderr"): string {
  return styleText(style, escapedLines(text), { stream: process[stream] }).replaceAll("\u001b", ESCAPE);
}

/** Returns a text in a form that is safe for a terminal: with line feeds, tabs and our own styles. */
export function shown(text: string): string {
  return escapedLines(text).replaceAll(ESCAPE, "\u001b");
}

/** Writes to standard output. Resolves when the text is taken. */
export function write(text: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(shown(text), () => resolve()));
}

/** Writes a line to standard error. */
export function say(text: string): void {
  console.error(shown(text));
}

/**
 * The streams themselves, for code that draws by escape sequences of its own: cli/bar.ts and cli/runs/screen.ts, which
 * use `shown`.
 */
export const drawnOn = { bars: process.stderr, screen: process.stdout };
