/** Lengths of completions, for people to read. No policy uses them. */

/**
 * Sums of the lengths of samples. A sample counts in tokens if its trainer reported them, and otherwise in characters.
 */
export interface Lengths {
  readonly tokens: number;
  /** Number of samples whose lengths are summed in `tokens`. */
  readonly tokenSamples: number;
  /** Total length in UTF-16 code units. */
  readonly characters: number;
  /** Number of samples whose lengths are summed in `characters`. */
  readonly characterSamples: number;
}

/** Returns the length of one sample. `tokens` is undefined if the trainer did not report them. */
export function lengthOfSample(tokens: number | undefined, characters: number): Lengths {
  return tokens === undefined
    ? { tokens: 0, tokenSamples: 0, characters, characterSamples: 1 }
    : { tokens, tokenSamples: 1, characters: 0, characterSamples: 0 };
}

/** Returns the sums of two sets of lengths, or with a `sign` of −1 their differences. Undefined counts as no sample. */
export function addLengths(one: Lengths | undefined, other: Lengths | undefined, sign = 1): Lengths | undefined {
  if (other === undefined) return one;
  return {
    tokens: (one?.tokens ?? 0) + sign * other.tokens,
    tokenSamples: (one?.tokenSamples ?? 0) + sign * other.tokenSamples,
    characters: (one?.characters ?? 0) + sign * other.characters,
    characterSamples: (one?.characterSamples ?? 0) + sign * other.characterSamples,
  };
}

/** Returns the total lengths of the completions of these groups. Undefined: none of them has a length. */
export function lengthsOf(groups: readonly { readonly lengths?: Lengths | undefined }[]): Lengths | undefined {
  let sum: Lengths | undefined;
  for (const { lengths } of groups) sum = addLengths(sum, lengths);
  return sum;
}
