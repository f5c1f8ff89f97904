/** What is said on standard error beside what was asked for: how far it is, what it came to. --quiet leaves it out. */
import { inColour, say } from "../server/runtime/terminal.ts";

let quiet = false;

export function beQuiet(wanted: boolean): void {
  quiet = wanted;
}

export function isQuiet(): boolean {
  return quiet;
}

/** Words that nobody needs: what failed, and warnings, are no notes. */
export function note(words: string): void {
  if (!quiet) say(words);
}

/** What may be wrong, though the command goes on. */
export function warn(words: string): void {
  say(`${inColour("yellow", "warning:")} ${words}`);
}
