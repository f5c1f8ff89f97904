/** A thread of the harness: plays one policy over students of one family. */
import type { JsonValue } from "@bufbuild/protobuf";
import type { Life } from "../../server/curriculum/simulation/life.ts";
import { play, playOracle } from "../../server/curriculum/simulation/play.ts";
import { familiesFrom } from "./families.ts";
import { policyOf } from "./policies.ts";
import { places, setting } from "./setting.ts";

export interface Job {
  readonly student: string;
  /** Files of students beside ours. */
  readonly files: readonly string[];
  /** In the contract's JSON; null: the oracle. */
  readonly policy: JsonValue;
  readonly seeds: readonly string[];
}

export default async function work({ student, files, policy, seeds }: Job): Promise<readonly Life[]> {
  const family = (await familiesFrom(files)).find(({ name }) => name === student);
  if (family === undefined) throw new Error(`there is no student "${student}"`);
  if (policy === null) return seeds.map((seed) => playOracle(family, places, setting, seed));
  const read = policyOf({ name: "policy", says: "", policy: () => policy }, places);
  return seeds.map((seed) => play(family, places, read, setting, seed));
}
