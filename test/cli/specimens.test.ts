/** Tests which answers a report shows, and that each picture belongs to its answer. */
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { OutcomeSchema, Verdict } from "../../clients/ts/src/index.ts";
import { outcomeOf } from "../../clients/ts/src/outcomes.ts";
import { SPECIMENS_MAX, createSpecimens } from "../../cli/evaluation/specimens.ts";

const sampleOf = (part: string, verdict: Verdict, ratio?: number, violation = "") => ({
  part,
  sampleIndex: 0,
  category: "",
  completion: `${part} ${violation} ${ratio}`,
  outcome: outcomeOf(
    create(OutcomeSchema, {
      result: {
        case: "score",
        value: { verdict, violation, solved: ratio === 1, ...(ratio !== undefined && { ratio }) },
      },
    }),
  ),
});

describe("specimens", () => {
  test("are the first infeasible answer of a part and its shortest feasible one", () => {
    const specimens = createSpecimens();
    specimens.add(sampleOf("a", Verdict.FEASIBLE, 1));
    specimens.add(sampleOf("a", Verdict.FEASIBLE, 0.5));
    specimens.add(sampleOf("a", Verdict.FEASIBLE, 0.25));
    specimens.add(sampleOf("a", Verdict.FEASIBLE, 0.25, "a later one"));
    specimens.add(sampleOf("b", Verdict.INFEASIBLE, undefined, "first"));
    specimens.add(sampleOf("b", Verdict.INFEASIBLE, undefined, "second"));
    specimens.add(sampleOf("c", Verdict.MALFORMED, undefined, "no answer"));
    specimens.add({ part: "d", sampleIndex: 0, category: "", completion: "" });
    expect(specimens.all().map(({ part, words, sample }) => [part, words, sample.completion])).toEqual([
      ["b", "first", "b first undefined"],
      ["a", "25.0% of the best", "a  0.25"],
    ]);
  });

  test("are bounded, however many parts there are", () => {
    const specimens = createSpecimens();
    for (let i = 0; i < 100; i++) specimens.add(sampleOf(`${i}`, Verdict.INFEASIBLE, undefined, "v"));
    expect(specimens.all()).toHaveLength(SPECIMENS_MAX);
  });
});
