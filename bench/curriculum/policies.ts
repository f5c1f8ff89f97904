/**
 * The policies that are judged, in the contract's words. What a policy is told of an arm (its level, easy or hard) is what
 * a user knows of it beforehand; which arms teach nothing is not.
 */
import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import { policyFromWire } from "../../server/curriculum/policies/registry.ts";
import { isInvalid, type Policy } from "../../server/curriculum/types.ts";
import { PolicySchema } from "../../server/gen/gradus/v1/curriculum_pb.js";
import type { Place } from "../../server/simulation/student.ts";

export interface Candidate {
  readonly name: string;
  readonly says: string;
  /** The contract's Policy, in JSON. */
  readonly policy: (places: readonly Place[]) => JsonValue;
}

export function policyOf({ name, policy }: Candidate, places: readonly Place[]): Policy {
  const read = policyFromWire(fromJson(PolicySchema, policy(places)));
  if (isInvalid(read)) throw new Error(`${name}: ${read.field}: ${read.message}`);
  return read;
}

type Weights = Readonly<Record<string, number>>;

/** Weights of 1 for the arms of some levels. */
function levels(places: readonly Place[], has: (level: number) => boolean): Weights {
  return Object.fromEntries(places.filter(({ level }) => has(level)).map(({ id }) => [id, 1]));
}

/** Equal stages, one for each level, in the order given. */
function staged(places: readonly Place[], order: readonly number[]): JsonValue {
  const stages = order.map((level) => ({ share: 1 / order.length, weights: levels(places, (of) => of === level) }));
  return { staged: { stages } };
}

function levelsOf(places: readonly Place[]): readonly number[] {
  return [...new Set(places.map(({ level }) => level))].sort((a, b) => a - b);
}

export const uniform: Candidate = {
  name: "uniform",
  says: "a mixture with equal weights: joint training",
  policy: () => ({ mixture: {} }),
};

const bandit = (name: string, says: string, config: Record<string, JsonValue>): Candidate => ({
  ...{ name, says },
  policy: () => ({ bandit: config }),
});

export const candidates: readonly Candidate[] = [
  uniform,
  {
    name: "staged",
    says: "FORGE's linear curriculum: a level after the other, equal shares of the run",
    policy: (places) => staged(places, levelsOf(places)),
  },
  {
    name: "staged, reversed",
    says: "the same from hard to easy: should lose",
    policy: (places) => staged(places, levelsOf(places).toReversed()),
  },
  {
    name: "easiest only",
    says: "the easiest level for ever: must never arrive",
    policy: (places) => ({ staged: { stages: [{ weights: levels(places, (level) => level === 0) }] } }),
  },
  {
    name: "widening",
    says: "Curriculum RLOO: 30% of the run on the easiest third, 40% on the easiest two thirds, the rest on all",
    policy: (places) => {
      const all = levelsOf(places);
      const below = (share: number): Weights => levels(places, (level) => all.indexOf(level) < share * all.length);
      return {
        staged: {
          stages: [{ share: 0.3, weights: below(1 / 3) }, { share: 0.4, weights: below(2 / 3) }, {}],
        },
      };
    },
  },
  bandit("bandit, ADSC", "EMA-softmax of absolute advantages, with the paper's α and τ", {}),
];
