/** What is said on standard error beside what was asked for: how far it is, what it came to. --quiet leaves it out. */
import { styleText } from "node:util";

let quiet = false;

export function beQuiet(wanted: boolean): void {
  quiet = wanted;
}

export function isQuiet(): boolean {
  return quiet;
}

/** Where standard error shows colours, or FORCE_COLOR says so, and NO_COLOR does not. */
export function inColour(
  style: Parameters<typeof styleText>[0],
  text: string,
  stream: NodeJS.WriteStream = process.stderr,
): string {
  return styleText(style, text, { stream });
}

/** Words that nobody needs: what failed, and warnings, are no notes. */
export function note(words: string): void {
  if (!quiet) console.error(words);
}

/** What may be wrong, though the command goes on. */
export function warn(words: string): void {
  console.error(`${inColour("yellow", "warning:")} ${words}`);
}
