/** Converts the filter in the page's address into the protobuf message SampleFilter. */
import { create } from "@bufbuild/protobuf";
import { NoRewardReason, SampleFilterSchema, Verdict } from "../../../clients/ts/src/public.ts";
import type { SampleFilter } from "../../../clients/ts/src/public.ts";
import { named } from "../address.ts";

const verdicts: Readonly<Record<string, Verdict>> = {
  malformed: Verdict.MALFORMED,
  infeasible: Verdict.INFEASIBLE,
  feasible: Verdict.FEASIBLE,
  graded: Verdict.GRADED,
};

/** Returns the choice of the outcome filter for a reason for missing rewards, e.g. "no reward: too large". */
export function reasonChoice(reason: NoRewardReason): string {
  return `no reward: ${(NoRewardReason[reason] ?? "").toLowerCase().replaceAll("_", " ")}`;
}

/** Reasons for missing rewards, by their choices in the outcome filter. */
const reasons = Object.fromEntries(
  Object.values(NoRewardReason)
    .filter((reason) => typeof reason === "number")
    .filter((reason) => reason !== NoRewardReason.UNSPECIFIED)
    .map((reason) => [reasonChoice(reason), reason]),
);

const outcomes = ["", ...Object.keys(verdicts), "solved", "not solved", "cut off", "no reward"];

/** Returns the choices of the outcome filter, in one list. A reason for missing rewards is among them while it is chosen. */
export function outcomeChoices(chosen: string): readonly string[] {
  return named(reasons, chosen) === undefined ? outcomes : [...outcomes, chosen];
}

export function filterOf(query: Readonly<Record<string, string>>): SampleFilter {
  const { outcome = "", violation = "", template = "", min = "", max = "", text = "" } = query;
  const verdict = named(verdicts, outcome);
  const reason = named(reasons, outcome);
  return create(SampleFilterSchema, {
    verdicts: verdict === undefined ? [] : [verdict],
    violation,
    violationTemplate: template,
    text,
    ...numberOf("rewardMin", min),
    ...numberOf("rewardMax", max),
    ...(outcome.endsWith("solved") && { solved: outcome === "solved" }),
    ...(outcome === "cut off" && { truncated: true }),
    ...(reason !== undefined && { noRewardReasons: [reason] }),
    ...(outcome === "no reward" && { noReward: true }),
  });
}

function numberOf(name: "rewardMin" | "rewardMax", text: string): Partial<Record<typeof name, number>> {
  const value = Number(text);
  return text.trim() === "" || !Number.isFinite(value) ? {} : { [name]: value };
}
