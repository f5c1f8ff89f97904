/** Codes of the game Mastermind: a list of colours, each a number from 1. */

export type Code = readonly number[];

export interface MastermindInstance {
  /** Number of colours. */
  readonly colours: number;
  readonly secret: Code;
}

/** How a guess compares with the secret code. */
export interface Marks {
  /** Number of places with the right colour. */
  readonly inPlace: number;
  /**
   * Number of colours of the guess that occur elsewhere in the secret. Each place of the secret is counted at most
   * once.
   */
  readonly elsewhere: number;
}

export function marksOf(secret: Code, guess: Code): Marks {
  let inPlace = 0;
  let common = 0;
  const left = new Map<number, number>();
  for (const [place, colour] of secret.entries()) {
    if (guess[place] === colour) inPlace++;
    left.set(colour, (left.get(colour) ?? 0) + 1);
  }
  for (const colour of guess) {
    const count = left.get(colour) ?? 0;
    if (count === 0) continue;
    common++;
    left.set(colour, count - 1);
  }
  return { inPlace, elsewhere: common - inPlace };
}

/** Returns why a guess is not a code of this game; undefined if it is one. */
export function faultOf({ colours, secret }: MastermindInstance, guess: readonly unknown[]): string | undefined {
  if (guess.length !== secret.length) return `it has ${guess.length} colours, and the code has ${secret.length}`;
  const wrong = guess.find(
    (colour) => !Number.isInteger(colour) || (colour as number) < 1 || (colour as number) > colours,
  );
  return wrong === undefined
    ? undefined
    : `${JSON.stringify(wrong).slice(0, 20)} is none of the colours from 1 to ${colours}`;
}
