import { describe, expect, test } from "vitest";
import { wrapAnswer } from "../../../envs/answers/wording.ts";
import { makeGenerated } from "../../../envs/instances.ts";
import { resolveParameters } from "../../../envs/parameters.ts";
import { score } from "../../../envs/score.ts";
import { tableOf } from "../../../envs/sequence/rules.ts";
import { type SequenceEnvironment, sequences } from "../../../envs/sequence/index.ts";
import { liesIn, SMALL } from "../../../envs/splits.ts";
import { scoreTask, SPLITS } from "../every.ts";

const INSTANCE = { symbols: 5, sequence: [2, 0, 4, 4, 1] };

function named(rule: string): SequenceEnvironment {
  const found = sequences.find(({ id }) => id === `sequence/${rule}`);
  if (found === undefined) throw new Error(`there is no rule ${rule}`);
  return found;
}

function judged(environment: SequenceEnvironment, text: string) {
  const issued = { instance: INSTANCE, origin: { kind: "inline", instance: new Uint8Array() }, hash: "" } as const;
  const { verdict, reward, violation } = score(scoreTask(environment, issued, "boxed"), wrapAnswer(text, "boxed"));
  return { verdict, reward, violation };
}

describe("the examples of the page", () => {
  test.each([
    ["map", [4, 3, 2, 2, 0]],
    ["running-sum", [2, 2, 1, 0, 1]],
    ["difference", [2, 3, 4, 0, 2]],
    ["sort", [0, 1, 2, 4, 4]],
    ["reverse", [1, 4, 4, 0, 2]],
  ])("%s", (rule, result) => {
    expect(named(rule).solver?.solve(INSTANCE).answer).toEqual(result);
    expect(judged(named(rule), result.join(""))).toEqual({ verdict: "feasible", reward: 1, violation: "" });
    expect(named(rule).render(INSTANCE, "boxed")[0]?.content).toContain("\n\n2 0 4 4 1\n\n");
  });

  test.each([
    ["[0, 1, 2, 4, 4]", "feasible", ""],
    ["0 1 2 4 4", "feasible", ""],
    ["[0, 1, 2, 4]", "infeasible", "wrong length: it has 4 digits, and the result has 5"],
    ["012444", "infeasible", "wrong length: it has 6 digits, and the result has 5"],
    ["[0, 1, 2, 4, 7]", "infeasible", "7 is not a digit from 0 to 4"],
    ["[0, 1, 2, 4, 44]", "infeasible", "44 is not a digit from 0 to 4"],
    ["[0, 1, 4, 2, 4]", "infeasible", "digit 3 of the result is not 4"],
    ["0 < 1 < 2", "malformed", "not a list of whole numbers: expected '[', found '0' at character 1"],
  ])("%s is %s", (text, verdict, violation) => {
    expect(judged(named("sort"), text)).toMatchObject({ verdict, violation });
  });
});

test.each([2, 3, 4, 5, 6, 7, 8, 9, 10])(
  "a table of %i symbols gives each digit once, and none for itself",
  (symbols) => {
    const table = tableOf(symbols);
    expect(table.toSorted((a, b) => a - b)).toEqual(Array.from({ length: symbols }, (_, i) => i));
    expect(table.some((to, from) => to === from)).toBe(false);
  },
);

describe("sequences of few instances", () => {
  const sort = named("sort");
  const make = (length: number, symbols: number, split: (typeof SPLITS)[number], seed: bigint) => {
    const resolved = resolveParameters(sort, { length_min: length, length_max: length, symbols });
    if (resolved.kind !== "ok") throw new Error(resolved.message);
    return makeGenerated(sort, { parameters: resolved.parameters, seed, split });
  };

  test.each([
    [2, 9],
    [3, 6],
    [5, 4],
    [10, 2],
  ])("of %i symbols and at most %i digits lie in every split, and longer ones in one", (symbols, length) => {
    expect([symbols ** length < SMALL, symbols ** (length + 1) < SMALL]).toEqual([true, false]);
    const all = (of: number): readonly string[] =>
      SPLITS.flatMap((split) =>
        Array.from({ length: 20 }, (_, seed) => {
          const made = make(of, symbols, split, BigInt(seed));
          if (made.kind !== "made") throw new Error(made.message);
          return SPLITS.filter((each) => liesIn(sort, made.instance, each)).join(" ");
        }),
      );
    expect(new Set(all(length))).toEqual(new Set(["train eval bench"]));
    expect(new Set(all(length + 1))).toEqual(new Set(SPLITS));
  });

  test("are the first of a seed, whatever the split", () => {
    for (let seed = 0n; seed < 20n; seed++) {
      const made = SPLITS.map((split) => make(1, 2, split, seed));
      expect(made.map((each) => each.kind === "made" && each.instance)).toEqual(
        made.map(() => made[0]?.kind === "made" && made[0].instance),
      );
    }
  });
});
