/** Long work a little at a time, in turns with other work. */
import type { Clock } from "./ports.ts";

export function nextTurn(clock: Clock): Promise<void> {
  return new Promise((resolve) => clock.nextTurn(resolve));
}

/** Characters that are written or read in one turn of the event loop: about a millisecond. */
const LENGTH_PER_TURN = 64 * 1024;

/** What a text counts for at least: a line of a state that is short may stand for thousands of samples without a result. */
const LENGTH_MIN = 8 * 1024;

/** Does something with each text, in turns with other work. */
export async function inTurns(clock: Clock, texts: Iterable<string>, each: (text: string) => unknown): Promise<void> {
  let length = 0;
  for (const text of texts) {
    each(text);
    length += Math.max(text.length, LENGTH_MIN);
    if (length < LENGTH_PER_TURN) continue;
    length = 0;
    await nextTurn(clock);
  }
}
