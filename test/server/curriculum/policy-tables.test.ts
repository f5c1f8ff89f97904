/** Ten steps of every rule against a table that test/golden/rules/table.py made by the contract's formulas alone. */
import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Rng } from "../../../envs/lib/rng.ts";
import type { ObservedGroup, View } from "../../../server/curriculum/policies/policy.ts";
import { definitionOf } from "../../../server/curriculum/policies/registry.ts";
import { policyFromWire } from "../../../server/rpc/curriculum/read-policy.ts";
import { PolicySchema } from "../../../proto/gen/gradus/v1/curriculum_pb.js";

const ARMS = 4;
const SIZE = 6;

type Group = readonly [arm: number, signal: number | null, weight: number, probability: number];

interface Table {
  readonly name: string;
  readonly policy: JsonValue;
  readonly batches: readonly (readonly Group[])[];
  readonly values: readonly (readonly string[])[];
  readonly probabilities: readonly (readonly string[])[];
}

const tables = JSON.parse(readFileSync(new URL("../../golden/rules/table.json", import.meta.url), "utf8")) as Table[];

/** The table's generator of uniform numbers. */
function uniform(seed: number): Rng {
  let state = seed;
  const float = (): number => {
    state = Number((1664525n * BigInt(state) + 1013904223n) % 2n ** 32n);
    return state / 2 ** 32;
  };
  const never = (): never => {
    throw new Error("the table has no such randomness");
  };
  return { float, int: never, pick: never, shuffle: never };
}

function viewAt(step: number): View {
  const known = { issued: 0, groups: 0, rewardMean: undefined, solvedShare: undefined };
  return {
    progress: { batch: step, cursor: step * SIZE, length: 0, size: SIZE, promptsPerUpdate: SIZE },
    arms: Array.from({ length: ARMS }, (_, i) => ({
      id: `arm ${i}`,
      source: "synthetic",
      hard: false,
      weight: 1,
      ...known,
    })),
    rng: () => uniform(1000 + step),
  };
}

function observed([arm, signal, weight, probability]: Group): ObservedGroup {
  const share = signal ?? undefined;
  const instance = { hash: "", rank: undefined, rewardMean: undefined, rewardDeviation: undefined };
  return { arm, armId: `arm ${arm}`, weight, probability, ...instance, signal: share, solvedShare: share };
}

describe.each(tables)("the table of $name", ({ policy: json, batches, values, probabilities }) => {
  const policy = policyFromWire(fromJson(PolicySchema, json));
  const { config } = policy;
  const definition = definitionOf(policy);

  test("holds to 1e-12 at each of its ten steps", () => {
    let state = definition.initial(config, ARMS, 0);
    let greatest = 0;
    for (const [step, groups] of batches.entries()) {
      state = definition.observe?.(config, state, groups.map(observed));
      const found = [
        ...definition.probabilities(config, state, viewAt(step)),
        ...(definition.values?.(config, state) ?? new Array<number>(ARMS).fill(0)),
      ];
      const wanted = [...(probabilities[step] ?? []), ...(values[step] ?? [])].map(Number);
      expect(found).toHaveLength(wanted.length);
      for (const [i, number] of found.entries()) greatest = Math.max(greatest, Math.abs(number - (wanted[i] ?? NaN)));
    }
    expect(batches).toHaveLength(10);
    expect(greatest).toBeLessThanOrEqual(1e-12);
  });
});
