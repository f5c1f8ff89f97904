/** Families of arms: one arm of a request whose environment is a pattern stands for every level of all that it matches. */
import { create } from "@bufbuild/protobuf";
import type { Environment } from "../../envs/environment.ts";
import type { Registry } from "../../envs/registry.ts";
import { ArmSchema, type Arm } from "../gen/gradus/v1/curriculum_pb.js";
import { Source, Split, TaskSpecSchema, type TaskSpec } from "../gen/gradus/v1/task_pb.js";
import { RpcError } from "../transport/rpc.ts";
import { checkBytes, checkCount, invalid } from "./check.ts";
import { ENVIRONMENT_ID_BYTES_MAX } from "./task-spec.ts";

/** "*" stands for anything but "/". */
function matcher(pattern: string): (name: string) => boolean {
  const words = pattern.split("*").map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const whole = new RegExp(`^${words.join("[^/]*")}$`);
  return (name) => whole.test(name);
}

const isFamily = ({ spec }: Arm): boolean => spec?.environment.includes("*") ?? false;

/** The newest version of each environment that a pattern matches, in the registry's order. */
function matching(registry: Registry, pattern: string): readonly Environment[] {
  const isWanted = matcher(pattern);
  const ids = new Set(registry.environments.map(({ id }) => id).filter(isWanted));
  return [...ids].flatMap((id) => {
    const found = registry.find(id);
    return found.kind === "found" ? [found.environment] : [];
  });
}

/** Each as its environment's id and the level's name. */
function levelsOf({ environment: pattern, difficulty, split }: TaskSpec, registry: Registry, field: string) {
  const isWanted = matcher(difficulty.case === "level" ? difficulty.value : "*");
  const found = matching(registry, pattern);
  if (found.length === 0)
    throw new RpcError("NOT_FOUND", `${field}.environment: no environment of this server matches '${pattern}'`, {
      field: `${field}.environment`,
    });
  const trains = split === Split.UNSPECIFIED || split === Split.TRAIN;
  const levels = found
    .filter(({ generator }) => generator !== undefined)
    .flatMap(({ id, levels: all }) =>
      all
        .filter(({ name, evaluationOnly }) => isWanted(name) && !(trains && evaluationOnly === true))
        .map(({ name }) => ({ id, level: name })),
    );
  if (levels.length > 0) return levels;
  const ids = found.map(({ id }) => id).join(", ");
  throw invalid(`${field}.level`, `no level of ${ids} is made by a generator, may be asked for, and is of that name`);
}

function membersOf(arm: Arm, spec: TaskSpec, registry: Registry, field: string): readonly Arm[] {
  if (arm.id !== "")
    throw invalid(`${field}.id`, "the arms of a family are named by their environments and levels: leave it out");
  if (spec.source !== Source.UNSPECIFIED && spec.source !== Source.SYNTHETIC)
    throw invalid(
      `${field}.spec.source`,
      "a family is of tasks that are generated: name arms of other sources one by one",
    );
  if (spec.version !== 0)
    throw invalid(`${field}.spec.version`, "a family is of the newest version of each environment: leave it out");
  if (spec.difficulty.case === "parameters")
    throw invalid(`${field}.spec.parameters`, "a family is of levels, each of which has its own");
  checkBytes(spec.environment, ENVIRONMENT_ID_BYTES_MAX, `${field}.spec.environment`);
  return levelsOf(spec, registry, `${field}.spec`).map(({ id, level }) =>
    create(ArmSchema, {
      ...arm,
      id: `${id}/${level}`,
      spec: create(TaskSpecSchema, { ...spec, environment: id, difficulty: { case: "level", value: level } }),
    }),
  );
}

/**
 * Arms with those of families in place of these. They come behind the others, which keep their index; one that is named by
 * itself, by the id that it has in the family, is as it is named there.
 */
export function withFamilies(
  arms: readonly Arm[],
  { registry }: { readonly registry: Registry },
  armsMax: number,
  field: string,
): Arm[] {
  const single = arms.filter((arm) => !isFamily(arm));
  const named = new Set(single.map(({ id }) => id));
  const members = arms.flatMap((arm, i) =>
    arm.spec !== undefined && isFamily(arm) ? membersOf(arm, arm.spec, registry, `${field}[${i}]`) : [],
  );
  const all = [...single, ...members.filter(({ id }) => !named.has(id))];
  checkCount(all.length, armsMax, members.length === 0 ? field : `${field}, families spelled out,`);
  return all;
}
