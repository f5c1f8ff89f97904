/** Serves GetViolations: what is wrong with the completions of a run. */
import { create } from "@bufbuild/protobuf";
import type { Verdict } from "../../../envs/score.ts";
import { didYouMean } from "../../../envs/lib/text.ts";
import * as wire from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { mapInSlices } from "../../base/time-slices.ts";
import type { ServiceHandlers } from "../../base/rpc.ts";
import { totalOf } from "../../samples/counted-runs.ts";
import { signsOf } from "../../samples/hacking-signs.ts";
import * as counted from "../../samples/sample-counts.ts";
import { commonWords } from "../../samples/violation-template.ts";
import type { NoRewardReason } from "../../tasks/scoring/results.ts";
import type { ServiceDeps } from "../deps.ts";
import { signKinds, verdicts } from "../enums.ts";
import { invalid, readRunId } from "../request-checks.ts";
import { okOrThrow } from "../to-rpc-error.ts";
import { noRewardReasons } from "../write-outcome.ts";
import { lengthsToWire } from "./write.ts";

/** Maximum number of violations of an arm in a response about all arms. */
const BRIEF_VIOLATIONS = 8;

type Handlers = Pick<ServiceHandlers<typeof wire.CurriculumService>, "getViolations">;

export function violationHandlers({ runs, samples }: ServiceDeps): Handlers {
  return {
    async getViolations(request) {
      const runId = readRunId(request);
      const { arms } = okOrThrow(await runs.get(runId)).configNow;
      const { armId } = request;
      const ids = arms.map(({ id }) => id);
      if (armId !== "" && !ids.includes(armId))
        throw invalid("arm_id", `'${armId}' is not an arm of the run${didYouMean(armId, ids)}`);
      const counts = await samples.counts(runId, okOrThrow(await runs.incarnations(runId)));
      const shown = arms.flatMap(({ id }, index) => {
        const arm = counts.arms.get(index);
        if (armId === "") return arm === undefined ? [] : [{ id, arm }];
        return id === armId ? [{ id, arm: arm ?? new Map<string, counted.Series>() }] : [];
      });
      const { width } = counts;
      return create(wire.GetViolationsResponseSchema, {
        total: armToWire(await totalOf(counts), { armId: "", width, brief: false }),
        arms: await mapInSlices(shown, ({ id, arm }) => armToWire(arm, { armId: id, width, brief: armId === "" })),
        stretchTasks: BigInt(width),
        counted: samples.bytesMax > 0,
      });
    },
  };
}

interface Shown {
  /** Id of the arm. Empty: the counts are those of all arms. */
  readonly armId: string;
  readonly width: number;
  readonly brief: boolean;
}

function armToWire(arm: counted.ArmCounts, { armId, width, brief }: Shown): wire.ArmViolations {
  const all = arm.get(counted.ALL);
  const stretches = brief ? [] : [...(all?.keys() ?? [])].sort((one, other) => one - other);
  const violations = counted.violationsOf(arm);
  const shown = brief ? violations.slice(0, BRIEF_VIOLATIONS) : violations;
  const others = violations.slice(shown.length).reduce((sum, { count }) => sum + count, 0);
  return create(wire.ArmViolationsSchema, {
    armId,
    sums: sumsToWire(counted.tallyOf(all)),
    violations: shown.map(({ verdict, template, series, count }) => ({
      template,
      verdict: verdicts.toWire[verdict as Verdict],
      count: BigInt(count),
      stretches: stretches.map((stretch) => BigInt(series.get(stretch)?.[0] ?? 0)),
      search: commonWords(template),
    })),
    otherViolations: BigInt(others + counted.tallyOf(arm.get(counted.OTHERS)).samples),
    missingRewards: [...arm]
      .filter(([name]) => name.startsWith(counted.REASON))
      .map(([name, series]) => ({
        reason: noRewardReasons[name.slice(counted.REASON.length) as NoRewardReason],
        count: BigInt(counted.tallyOf(series).samples),
      }))
      .sort((one, other) => Number(other.count - one.count) || one.reason - other.reason),
    rewards: Array.from({ length: counted.BINS.count }, (_, bin) => bin).flatMap((bin) => {
      const series = arm.get(`${counted.BIN}${bin}`);
      const lower = counted.BINS.from + bin * counted.BINS.width;
      const upper = lower + counted.BINS.width;
      return series === undefined ? [] : [{ lower, upper, sums: sumsToWire(counted.tallyOf(series)) }];
    }),
    stretches: stretches.map((stretch) => ({
      cursor: BigInt(stretch * width),
      sums: sumsToWire(counted.tallyOf(all, (each) => each === stretch)),
    })),
    signs: armId === "" ? [] : signsOf(arm).map(({ kind, ...sign }) => ({ kind: signKinds.toWire[kind], ...sign })),
  });
}

function sumsToWire({ samples, scored, solved, truncated, reward, quality, ...lengths }: counted.Tally) {
  return {
    samples: BigInt(samples),
    scored: BigInt(scored),
    solved: BigInt(solved),
    truncated: BigInt(truncated),
    ...(scored > 0 && { rewardMean: reward / scored, qualityMean: quality / scored }),
    ...lengthsToWire({ lengths }),
  };
}
