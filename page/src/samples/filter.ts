/** Converts the filter in the page's address into the protobuf message SampleFilter. */
import { create } from "@bufbuild/protobuf";
import { SampleFilterSchema, Verdict } from "../../../clients/ts/src/public.ts";
import type { SampleFilter } from "../../../clients/ts/src/public.ts";
import { named } from "../address.ts";

const verdicts: Readonly<Record<string, Verdict>> = {
  malformed: Verdict.MALFORMED,
  infeasible: Verdict.INFEASIBLE,
  feasible: Verdict.FEASIBLE,
  graded: Verdict.GRADED,
};

/** Choices of the outcome filter, in one list. */
export const outcomeChoices = ["", ...Object.keys(verdicts), "solved", "not solved", "no reward"] as const;

export function filterOf(query: Readonly<Record<string, string>>): SampleFilter {
  const { outcome = "", violation = "", min = "", max = "", text = "" } = query;
  const verdict = named(verdicts, outcome);
  return create(SampleFilterSchema, {
    verdicts: verdict === undefined ? [] : [verdict],
    violation,
    text,
    ...numberOf("rewardMin", min),
    ...numberOf("rewardMax", max),
    ...(outcome.endsWith("solved") && { solved: outcome === "solved" }),
    ...(outcome === "no reward" && { noReward: true }),
  });
}

function numberOf(name: "rewardMin" | "rewardMax", text: string): Partial<Record<typeof name, number>> {
  const value = Number(text);
  return text.trim() === "" || !Number.isFinite(value) ? {} : { [name]: value };
}
