/** Prints notes and warnings on standard error. --quiet suppresses notes. */
import { inColour, say } from "../server/runtime/terminal.ts";

let quiet = false;

export function beQuiet(wanted: boolean): void {
  quiet = wanted;
}

export function isQuiet(): boolean {
  return quiet;
}

/** Prints words that are not essential, unless --quiet was given. Failures and warnings are printed otherwise. */
export function note(words: string): void {
  if (!quiet) say(words);
}

/** Prints a warning, after which the command goes on. */
export function warn(words: string): void {
  say(`${inColour("yellow", "warning:")} ${words}`);
}
