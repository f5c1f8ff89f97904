/** Prints notes and warnings on standard error. --quiet suppresses notes. */
import { inColour, say } from "../server/runtime/terminal.ts";

let quiet = false;

export function beQuiet(wanted: boolean): void {
  quiet = wanted;
}

export function isQuiet(): boolean {
  return quiet;
}

/**
 * Prints an inessential message on standard error, unless --quiet was given. Other functions print failures and
 * warnings.
 */
export function note(words: string): void {
  if (!quiet) say(words);
}

/** Prints a warning, after which the command goes on. */
export function warn(words: string): void {
  say(`${inColour("yellow", "warning:")} ${words}`);
}
