/** Finds out how many guesses the best strategy needs in its worst case, by an exhaustive search over strategies. */
import { type Code, marksOf } from "./code.ts";

/**
 * Number of guesses that the best strategy needs in its worst case, the right guess included. Rows are for 2, 3 and 4
 * positions, and columns for 2 to 6 colours.
 *
 * Tests compute each entry by `worstCase`, and again by code that shares nothing with this file.
 */
const WORST: readonly (readonly number[])[] = [
  [3, 3, 4, 4, 5],
  [3, 4, 4, 5, 5],
  [4, 4, 4, 5, 5],
];

export function worstCaseOf(places: number, colours: number): number {
  const worst = WORST[places - 2]?.[colours - 2];
  if (worst === undefined) throw new Error(`bug: no worst case is known of ${places} places and ${colours} colours`);
  return worst;
}

/** Position of a code in the list of all codes. */
type Index = number;

/** Replies to every guess for every secret code, computed in advance. */
interface Game {
  readonly size: number;
  /** Reply to guess g if the secret is s, encoded as one number, at index g * size + s. */
  readonly marks: Uint8Array;
  readonly right: number;
  /** At index k: upper bound on the number of codes among which k guesses can always find the secret. */
  readonly countMax: readonly number[];
  /** First guesses to try. All others differ from one of these only by renamed colours or reordered positions. */
  readonly firsts: readonly Index[];
}

const DEPTH_MAX = 10;

export function allCodes(places: number, colours: number): readonly Code[] {
  let codes: readonly Code[] = [[]];
  for (let place = 0; place < places; place++)
    codes = codes.flatMap((code) => Array.from({ length: colours }, (_, colour) => [...code, colour + 1]));
  return codes;
}

function gameOf(places: number, colours: number): Game {
  const codes = allCodes(places, colours);
  const size = codes.length;
  const marks = new Uint8Array(size * size);
  for (const [g, guess] of codes.entries())
    for (const [s, secret] of codes.entries()) {
      const { inPlace, elsewhere } = marksOf(secret, guess);
      marks[g * size + s] = inPlace * (places + 1) + elsewhere;
    }
  const kinds = ((places + 1) * (places + 2)) / 2 - 1;
  const countMax = [0];
  for (let guesses = 1; guesses <= DEPTH_MAX; guesses++)
    countMax.push(1 + (kinds - 1) * (countMax[guesses - 1] as number));
  const isFirst = (code: Code): boolean => {
    const counts = Array.from({ length: colours }, (_, i) => code.filter((colour) => colour === i + 1).length);
    const isSorted = code.every((colour, i) => i === 0 || (code[i - 1] as number) <= colour);
    return isSorted && counts.every((count, i) => i === 0 || (counts[i - 1] as number) >= count);
  };
  const firsts = codes.flatMap((code, index) => (isFirst(code) ? [index] : []));
  return { size, marks, right: places * (places + 1), countMax, firsts };
}

/** Returns how many guesses the best strategy needs in its worst case, the right guess included. */
export function worstCase(places: number, colours: number): number {
  const game = gameOf(places, colours);
  const all = Array.from({ length: game.size }, (_, index) => index);
  for (let guesses = 1; ; guesses++) if (isSolvable(game, all, guesses, game.firsts)) return guesses;
}

/** Returns whether a strategy exists that finds each of `codes` within this number of guesses. */
function isSolvable(game: Game, codes: readonly Index[], guesses: number, tried?: readonly Index[]): boolean {
  if (codes.length <= 1) return codes.length === 0 || guesses >= 1;
  if (codes.length > (game.countMax[guesses] as number) || guesses < 2) return false;
  const seen = new Set<string>();
  const count = tried?.length ?? game.size;
  for (let i = 0; i < count + codes.length; i++) {
    // Guesses that may be the secret are tried first, because they usually split the remaining codes best.
    const guess =
      i < codes.length ? (codes[i] as Index) : tried === undefined ? i - codes.length : tried[i - codes.length];
    if (guess === undefined || (tried !== undefined && i < codes.length)) continue;
    if (!tellsApart(game, codes, guess, game.countMax[guesses - 1] as number)) continue;
    // With two guesses left, this guess leaves at most one code for each reply, so that the second guess finds the
    // secret.
    if (guesses === 2) return true;
    const classes = classesOf(game, codes, guess);
    // Guesses that split the remaining codes into the same classes are equally good, so only one of them is searched.
    const key = classes
      .map((each) => each.join())
      .sort()
      .join("|");
    if (seen.has(key)) continue;
    seen.add(key);
    if (classes.every((each) => isSolvable(game, each, guesses - 1))) return true;
  }
  return false;
}

/**
 * Returns whether, after this guess, each possible reply leaves at most `countMax` codes, and fewer than before.
 * Allocates only one array, because this runs for each guess at each node of the search.
 */
function tellsApart({ size, marks, right }: Game, codes: readonly Index[], guess: Index, countMax: number): boolean {
  const counts = new Uint16Array(right + 1);
  const max = Math.min(countMax, codes.length - 1);
  for (let i = 0; i < codes.length; i++) {
    const mark = marks[guess * size + (codes[i] as Index)] as number;
    if (mark === right) continue;
    const count = (counts[mark] as number) + 1;
    if (count > max) return false;
    counts[mark] = count;
  }
  return true;
}

/**
 * Groups codes by the reply to the guess if the code were the secret, largest group first. Leaves out the guess itself.
 */
function classesOf({ size, marks, right }: Game, codes: readonly Index[], guess: Index): readonly (readonly Index[])[] {
  const classes = Map.groupBy(codes, (code) => marks[guess * size + code] as number);
  classes.delete(right);
  return [...classes.values()].sort((a, b) => b.length - a.length);
}
