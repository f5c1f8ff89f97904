/** A worker thread of the bench: students of one kind are taught by equal shares, and by each policy for as long. */
import type { JsonValue } from "@bufbuild/protobuf";
import type { Policy } from "../../server/curriculum/types.ts";
import { drive } from "../../server/simulation/drive-run.ts";
import { type SimulatedOutcome, createOutcomeCounter } from "../../server/simulation/simulated-outcome.ts";
import { configOf } from "./run-config.ts";
import { judgedKinds, type JudgedKind } from "./judged-kinds.ts";
import { policyOf, uniform } from "./policies.ts";

export interface Job {
  readonly kind: string;
  /** Files of students beside the bench's own. */
  readonly files: readonly string[];
  /** Policies in the contract's JSON, by name. */
  readonly policies: readonly (readonly [name: string, policy: JsonValue])[];
  readonly seeds: readonly string[];
}

/** A student under equal shares, and under each policy. */
export interface Taught {
  readonly seed: string;
  readonly uniform: SimulatedOutcome;
  readonly others: Readonly<Record<string, SimulatedOutcome>>;
}

function live(
  { places, shape, create }: JudgedKind,
  policy: Policy,
  seed: string,
  batches?: number,
): [SimulatedOutcome, number] {
  const student = create(seed, places);
  const config = configOf(places, policy, shape, seed);
  const counter = createOutcomeCounter(student, shape.numGenerations);
  let until = batches ?? shape.batches;
  let arrived = false;
  let played = 0;
  for (const step of drive(config, student, seed)) {
    counter.add(step);
    played++;
    if (batches === undefined && !arrived && step.score >= student.target) {
      arrived = true;
      until = Math.min(until, 2 * played);
    }
    if (played >= until) break;
  }
  return [counter.life(), played];
}

/** Plays equal shares until they reach the target and for as long again; the policies have the same time. */
export default async function work({ kind: name, files, policies, seeds }: Job): Promise<readonly Taught[]> {
  const kind = (await judgedKinds(files)).find((each) => each.name === name);
  if (kind === undefined) throw new Error(`there is no student "${name}"`);
  const read = policies.map(([policy, json]) => {
    const candidate = { name: policy, says: "", policy: () => json };
    return [policy, policyOf(candidate, kind.places, kind.shape)] as const;
  });
  const equal = policyOf(uniform, kind.places, kind.shape);
  return seeds.map((seed) => {
    const [alike, batches] = live(kind, equal, seed);
    const others = Object.fromEntries(read.map(([policy, of]) => [policy, live(kind, of, seed, batches)[0]]));
    return { seed, uniform: alike, others };
  });
}
