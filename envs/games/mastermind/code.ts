/** Defines codes of the game Mastermind and compares them. A code is a list of colours, each a number from 1. */

export type Code = readonly number[];

export interface MastermindInstance {
  readonly colours: number;
  readonly secret: Code;
}

/** How a guess compares with the secret code. */
export interface Marks {
  /** Number of positions with the right colour. */
  readonly inPlace: number;
  /**
   * Number of colours of the guess that occur elsewhere in the secret. Each position of the secret is counted
   * at most once.
   */
  readonly elsewhere: number;
}

/**
 * Compares a secret with the guess that begins at index `start` of a list. Allocates only the result, because the
 * solver compares many pairs.
 */
export function marksOf(secret: Code, guesses: ArrayLike<number>, start = 0): Marks {
  let inPlace = 0;
  let common = 0;
  // Bit i: position i of the secret was counted.
  let counted = 0;
  for (let place = 0; place < secret.length; place++) {
    const colour = guesses[start + place];
    if (secret[place] === colour) inPlace++;
    for (let other = 0; other < secret.length; other++) {
      if (secret[other] !== colour || (counted & (1 << other)) !== 0) continue;
      counted |= 1 << other;
      common++;
      break;
    }
  }
  return { inPlace, elsewhere: common - inPlace };
}

/** Returns why a guess is not a code of this game, or undefined if it is a code. */
export function faultOf({ colours, secret }: MastermindInstance, guess: readonly unknown[]): string | undefined {
  if (guess.length !== secret.length) return `it has ${guess.length} colours, and the code has ${secret.length}`;
  const wrong = guess.find(
    (colour) => !Number.isInteger(colour) || (colour as number) < 1 || (colour as number) > colours,
  );
  return wrong === undefined
    ? undefined
    : `${JSON.stringify(wrong).slice(0, 20)} is none of the colours from 1 to ${colours}`;
}
