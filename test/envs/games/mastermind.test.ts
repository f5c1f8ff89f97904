/** Mastermind: replies, and proofs of the worst case of the best strategy. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Code, marksOf } from "../../../envs/games/mastermind/code.ts";
import { mastermind } from "../../../envs/games/mastermind/index.ts";
import { allCodes, worstCase, worstCaseOf } from "../../../envs/games/mastermind/solve.ts";

/** Marks by their definition: pegs are removed one by one. */
function slowMarks(secret: Code, guess: Code): string {
  const inPlace = secret.filter((colour, place) => guess[place] === colour).length;
  const left = secret.filter((colour, place) => guess[place] !== colour);
  let elsewhere = 0;
  for (const [place, colour] of guess.entries()) {
    if (secret[place] === colour) continue;
    const at = left.indexOf(colour);
    if (at < 0) continue;
    left.splice(at, 1);
    elsewhere++;
  }
  return `${inPlace} ${elsewhere}`;
}

test("marks are those of pegs that are removed one by one", () => {
  const code = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 4, maxLength: 4 });
  fc.assert(
    fc.property(code, code, (secret, guess) => {
      const { inPlace, elsewhere } = marksOf(secret, guess);
      expect(`${inPlace} ${elsewhere}`).toBe(slowMarks(secret, guess));
    }),
  );
});

const sizes = (mastermind.generator?.levels ?? []).map(
  ({ parameters }) => [parameters["places"] ?? 0, parameters["colours"] ?? 0] as const,
);
const others = [2, 3].flatMap((places) => [2, 3, 4, 5, 6].map((colours) => [places, colours] as const));
const four = [2, 3].map((colours) => [4, colours] as const);

test.each([...new Map([...sizes, ...others, ...four].map((size) => [size.join(), size])).values()])(
  "the worst case of %d places and %d colours is what the search finds",
  (places, colours) => expect(worstCase(places, colours)).toBe(worstCaseOf(places, colours)),
  120_000,
);

/** Parts of the codes with equal marks of a guess, without the guess. */
function partsOf(codes: readonly Code[], guess: Code): readonly (readonly Code[])[] {
  const parts = Map.groupBy(codes, (code) => slowMarks(code, guess));
  parts.delete(`${guess.length} 0`);
  return [...parts.values()];
}

/** Guesses that a plain strategy needs in its worst case: it takes the first guess whose largest part is smallest. */
function guessesOf(codes: readonly Code[], all: readonly Code[]): number {
  if (codes.length <= 1) return codes.length;
  let best: { readonly largest: number; readonly guess: Code } | undefined;
  // A code that may be the secret is better than another one with the same parts.
  for (const guess of [...codes, ...all]) {
    const largest = Math.max(...partsOf(codes, guess).map((part) => part.length));
    if (best === undefined || largest < best.largest) best = { largest, guess };
  }
  const parts = best === undefined ? [] : partsOf(codes, best.guess);
  return 1 + Math.max(...parts.map((part) => guessesOf(part, all)));
}

test("by other means: a plain strategy finds each of the 1,296 classic codes in 5 guesses, and none does in 4", () => {
  const all = allCodes(4, 6);
  // Knuth's first guess (1976). All others of its kind do as well.
  const parts = partsOf(all, [1, 1, 2, 2]);
  expect(1 + Math.max(...parts.map((part) => guessesOf(part, all)))).toBe(worstCaseOf(4, 6));
  // A guess has 14 kinds of marks, one of them right, so three guesses tell at most 1 + 13 · 14 = 183 codes apart.
  const kinds = [
    [1, 1, 1, 1],
    [1, 1, 1, 2],
    [1, 1, 2, 2],
    [1, 1, 2, 3],
    [1, 2, 3, 4],
  ];
  for (const first of kinds) expect(Math.max(...partsOf(all, first).map((part) => part.length))).toBeGreaterThan(183);
}, 300_000);

/** Whether some strategy finds each code with so many guesses: every guess is tried, and nothing is left out. */
function canFind(codes: readonly Code[], guesses: number, all: readonly Code[]): boolean {
  if (codes.length <= 1) return codes.length <= guesses;
  if (guesses <= 1) return false;
  return all.some((guess) => {
    const parts = partsOf(codes, guess);
    return parts.every((part) => part.length < codes.length) && parts.every((part) => canFind(part, guesses - 1, all));
  });
}

test.each([
  [2, 2],
  [2, 3],
  [2, 4],
  [3, 2],
  [3, 3],
])(
  "by other means: %d places and %d colours",
  (places, colours) => {
    const all = allCodes(places, colours);
    const worst = worstCaseOf(places, colours);
    expect([canFind(all, worst, all), canFind(all, worst - 1, all)]).toEqual([true, false]);
  },
  120_000,
);
