/** Counts what the samples of a group came to, for the metrics. */
import { type GroupOutcome, NoRewardReason, Verdict } from "../gen/gradus/v1/outcome_pb.js";
import type { NoReward } from "../tasks/sample-result.ts";
import type { OpenTask } from "../tasks/scorer.ts";
import type { ServiceDeps } from "./deps.ts";

/** By number, made once: a name is looked up for each sample. */
const lowerNames = (names: Readonly<Record<number, string>>): readonly string[] =>
  Object.values(names)
    .filter((name) => typeof name === "string")
    .map((name) => name.toLowerCase());
const verdicts = lowerNames(Verdict);
const reasons = lowerNames(NoRewardReason);

const sourceOf = { generated: "synthetic", row: "real", inline: "teacher" } as const;
const unknown = Object.freeze({ environment: "", level: "", source: "" });

export function tally({ meter }: Pick<ServiceDeps, "meter">, task: OpenTask | NoReward, group: GroupOutcome): void {
  if (meter === undefined) return;
  const counts = meter(task.kind === "none" ? unknown : kindOf(task));
  for (const { result } of group.outcomes) {
    if (result.case === "score") {
      const { verdict, reward, solved } = result.value;
      counts.scored(verdicts[verdict] ?? "", reward, solved);
    } else if (result.case === "noReward") counts.noReward(reasons[result.value.reason] ?? "");
  }
}

function kindOf({ token: { environment, level, key } }: OpenTask) {
  return { environment, level, source: sourceOf[key.origin.kind] };
}
