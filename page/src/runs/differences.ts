/** Finds the fields in which configurations of runs differ. */
import { type JsonValue, toJson } from "@bufbuild/protobuf";
import { PolicySchema, RunConfigSchema } from "../../../clients/ts/src/public.ts";
import { type ReadRun, shapeOf } from "./state.ts";

/** A field that is not the same in all runs. */
export interface Difference {
  /** Path of the field, e.g. "arms.t0.spec.level". */
  readonly field: string;
  /** Value in each run, as JSON. Undefined: the run does not have the field. */
  readonly values: readonly (string | undefined)[];
}

/** Returns the configuration of a run as JSON, with the changes since its creation: policy, sizes and weights. */
function configurationNow(run: ReadRun): JsonValue {
  const { config, state } = run;
  const { numGenerations, promptsPerUpdate, length } = shapeOf(run);
  const present = { ...config, numGenerations, promptsPerUpdate, length };
  return {
    ...(toJson(RunConfigSchema, present) as Readonly<Record<string, JsonValue>>),
    ...(state.policy && { policy: toJson(PolicySchema, state.policy) }),
    weights: Object.fromEntries(state.arms.flatMap(({ armId, weight, removed }) => (removed ? [] : [[armId, weight]]))),
  };
}

/** Adds all fields of a JSON value, with their paths. Entries of a list are named by their ids, or else by their index. */
function addFields(fields: Map<string, string>, path: string, value: JsonValue): void {
  if (value === null || typeof value !== "object") {
    fields.set(path, JSON.stringify(value));
    return;
  }
  const idOf = (entry: JsonValue, at: number): string => {
    const id = entry !== null && typeof entry === "object" && !Array.isArray(entry) ? entry["id"] : undefined;
    return typeof id === "string" ? id : String(at);
  };
  const entries = Array.isArray(value)
    ? value.map((entry, at) => [idOf(entry, at), entry] as const)
    : Object.entries(value);
  for (const [name, entry] of entries) addFields(fields, path === "" ? name : `${path}.${name}`, entry);
}

/** Returns the fields in which the runs' present configurations differ, in the order of the first run that has them. */
export function differencesOf(runs: readonly ReadRun[]): readonly Difference[] {
  const all = runs.map((run) => {
    const fields = new Map<string, string>();
    addFields(fields, "", configurationNow(run));
    return fields;
  });
  const names = new Set(all.flatMap((fields) => [...fields.keys()]));
  return [...names].flatMap((field) => {
    const values = all.map((fields) => fields.get(field));
    return new Set(values).size > 1 ? [{ field, values }] : [];
  });
}
