/** Stages one after the other, each with weights over arms (FORGE's linear curriculum, Curriculum RLOO). */
import { create } from "@bufbuild/protobuf";
import {
  type Stage as StageMessage,
  type StagedPolicy,
  StagedPolicySchema,
} from "../../gen/gradus/v1/curriculum_pb.js";
import { readList, readNumber } from "../json.ts";
import { invalid, type Invalid, isInvalid } from "../types.ts";
import { inRange, type PolicyDefinition, type Progress, type RunShape, WEIGHT_MAX } from "./policy.ts";

const STAGES_MAX = 64;
/** Shares such as a third three times are 1 together, whatever rounding says. */
const ROUNDING = 1e-9;

/** How long a stage lasts; "open": until it is ended. */
type Extent =
  | { readonly kind: "share"; readonly share: number }
  | { readonly kind: "tasks"; readonly tasks: number }
  | { readonly kind: "open" };

export interface Stage {
  readonly extent: Extent;
  /** By arm id; empty: all arms. */
  readonly weights: Readonly<Record<string, number>>;
}

export interface StagedConfig {
  readonly stages: readonly Stage[];
}

/** As it was when it was last moved on; the rest follows from how far the run is. */
interface StagedState {
  readonly stage: number;
  /** Where the stage began. */
  readonly from: number;
}

function extentOf({ extent }: StageMessage, field: string): Extent | Invalid {
  if (extent.case === undefined) return { kind: "open" };
  if (extent.case === "share") return { kind: "share", share: extent.value };
  if (extent.value >= 1n && extent.value <= BigInt(Number.MAX_SAFE_INTEGER))
    return { kind: "tasks", tasks: Number(extent.value) };
  return invalid(`${field}.tasks`, `must be in [1, 2^53 - 1], not ${extent.value}`);
}

function fromWire({ stages: messages }: StagedPolicy): StagedConfig | Invalid {
  const stages: Stage[] = [];
  for (const [i, message] of messages.entries()) {
    const extent = extentOf(message, `stages[${i}]`);
    if (isInvalid(extent)) return extent;
    stages.push({ extent, weights: Object.fromEntries(Object.entries(message.weights)) });
  }
  return { stages };
}

function toWire({ stages }: StagedConfig): StagedPolicy {
  const extentToWire = (extent: Extent): StageMessage["extent"] => {
    if (extent.kind === "open") return { case: undefined };
    if (extent.kind === "share") return { case: "share", value: extent.share };
    return { case: "tasks", value: BigInt(extent.tasks) };
  };
  return create(StagedPolicySchema, {
    stages: stages.map(({ extent, weights }) => ({ extent: extentToWire(extent), weights: { ...weights } })),
  });
}

function checkWeights({ weights }: Stage, field: string, armIds: readonly string[]): Invalid | undefined {
  const entries = Object.entries(weights);
  for (const [id, weight] of entries) {
    const name = `${field}.weights["${id}"]`;
    if (!armIds.includes(id)) return invalid(name, "is not an arm of the run");
    const found = inRange(name, weight, 0, WEIGHT_MAX);
    if (found !== undefined) return found;
  }
  const isNothing = entries.length > 0 && entries.every(([, weight]) => weight === 0);
  return isNothing ? invalid(`${field}.weights`, "must not all be 0") : undefined;
}

function check({ stages }: StagedConfig, { armIds, length }: RunShape): Invalid | undefined {
  if (stages.length < 1 || stages.length > STAGES_MAX)
    return invalid("stages", `there are ${stages.length}, and there must be 1 to ${STAGES_MAX}`);
  let shares = 0;
  for (const [i, stage] of stages.entries()) {
    const field = `stages[${i}]`;
    const found = checkWeights(stage, field, armIds);
    if (found !== undefined) return found;
    if (stage.extent.kind !== "share") continue;
    const { share } = stage.extent;
    if (length === 0) return invalid(`${field}.share`, "is of the run's length, which is 0: set it, or give tasks");
    if (!(share > 0 && share <= 1)) return invalid(`${field}.share`, `must be above 0 and at most 1, not ${share}`);
    shares += share;
    if (shares > 1 + ROUNDING) return invalid(`${field}.share`, `makes ${shares} with those before, which is above 1`);
  }
  return undefined;
}

/** The stage that a cursor lies in, and where it began. */
function stageAt({ stages }: StagedConfig, state: StagedState, { cursor, length }: Progress): StagedState {
  let { stage, from } = state;
  for (; stage < stages.length - 1; stage++) {
    const extent = stages[stage]?.extent;
    if (extent === undefined || extent.kind === "open") break;
    const tasks = extent.kind === "share" ? Math.round(extent.share * length) : extent.tasks;
    if (cursor < from + tasks) break;
    from += tasks;
  }
  return { stage, from };
}

/** Ids may be words that objects know, such as "constructor". */
function weightOf({ weights }: Stage, id: string): number {
  for (const _ in weights) return Object.hasOwn(weights, id) ? (weights[id] ?? 0) : 0;
  return 1;
}

export const staged: PolicyDefinition<StagedPolicy, StagedConfig, StagedState> = {
  kind: "staged",
  fromWire,
  toWire: (config) => ({ case: "staged", value: toWire(config) }),
  check,
  takesFeedback: false,
  initial: (_config, _armCount, cursor) => ({ stage: 0, from: cursor }),
  state: {
    encode: ({ stage, from }) => [stage, from],
    decode(json) {
      const [stage, from] = readList(json);
      return { stage: readNumber(stage), from: readNumber(from) };
    },
  },
  probabilities(config, state, { progress, arms }) {
    const stage = config.stages[stageAt(config, state, progress).stage];
    const shares = arms.map(({ id, weight }) => (stage === undefined ? 0 : weightOf(stage, id) * weight));
    const total = shares.reduce((sum, share) => sum + share, 0);
    return shares.map((share) => (total > 0 ? share / total : 0));
  },
  phases: ({ stages }, armIds) => stages.map((stage) => armIds.map((id) => weightOf(stage, id) > 0)),
  advance(config, state, progress) {
    const { stage } = stageAt(config, state, progress);
    const count = config.stages.length;
    return stage < count - 1
      ? { kind: "advanced", state: { stage: stage + 1, from: progress.cursor } }
      : { kind: "refused", message: `the policy is in the last of its stages, ${count} of ${count}` };
  },
};
