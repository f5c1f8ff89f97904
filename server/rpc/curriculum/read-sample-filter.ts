/** Converts the protobuf message SampleFilter to the conditions by which stored completions are filtered. */
import { LIMITS } from "../../../proto/limits.ts";
import type { SampleFilter as WireFilter } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import type { SampleFilter } from "../../samples/sample-filter.ts";
import { checkBytes, checkCount, invalid, required } from "../request-checks.ts";
import { noRewardReasons, verdicts } from "../enums.ts";

const VERDICTS_MAX = 8;
const REASONS_MAX = 16;

const { violation_template: templateLimit } = LIMITS.SampleFilter;

export function readFilter(filter: WireFilter | undefined): SampleFilter {
  const { verdicts: asked = [], noRewardReasons: reasons = [], violation = "", text = "", ...others } = filter ?? {};
  checkCount(asked.length, VERDICTS_MAX, "filter.verdicts");
  checkCount(reasons.length, REASONS_MAX, "filter.no_reward_reasons");
  const { violationTemplate: template = "", ...bounds }: Partial<WireFilter> = others;
  const { rewardMin, rewardMax, solved, truncated, noReward } = bounds;
  for (const [field, value] of Object.entries({ reward_min: rewardMin, reward_max: rewardMax }))
    if (Number.isNaN(value)) throw invalid(`filter.${field}`, "must be a number; got NaN");
  return {
    verdicts: new Set(asked.map((verdict, i) => required(verdicts.fromWire(verdict), `filter.verdicts[${i}]`))),
    violation: checkBytes(violation, LIMITS.SampleFilter.violation.max, "filter.violation").toLowerCase(),
    violationTemplate: checkBytes(template, templateLimit.max, "filter.violation_template"),
    text: checkBytes(text, LIMITS.SampleFilter.text.max, "filter.text").toLowerCase(),
    rewardMin,
    rewardMax,
    solved,
    truncated,
    noReward,
    reasons: new Set(
      reasons.map((reason, i) => required(noRewardReasons.fromWire(reason), `filter.no_reward_reasons[${i}]`)),
    ),
  };
}
