/**
 * The one way to the standard streams. Whoever wrote a text (a module, a host, a provider, a model), a terminal obeys none of
 * it: control characters and marks of direction are written out, and only our own styles stay.
 */
import { randomBytes } from "node:crypto";
import { styleText } from "node:util";
import { escapedLines } from "../../envs/lib/words.ts";

/** Stands for the escape character of our own styles. It is random, so that no foreign text holds it. */
const ESCAPE = `\u{e000}${randomBytes(8).toString("hex")}`;

type StreamName = "stdout" | "stderr";

/** Returns a text in a style for `say` and `write`, if the stream shows colours, or FORCE_COLOR asks for them. */
export function inColour(style: Parameters<typeof styleText>[0], text: string, stream: StreamName = "stderr"): string {
  return styleText(style, escapedLines(text), { stream: process[stream] }).replaceAll("\u001b", ESCAPE);
}

/** Returns a text as a terminal may be shown it: with line feeds, tabs and our own styles. */
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

/** The streams themselves, for what draws by sequences of its own: cli/bar.ts and cli/runs/screen.ts, which use `shown`. */
export const drawnOn = { bars: process.stderr, screen: process.stdout };
