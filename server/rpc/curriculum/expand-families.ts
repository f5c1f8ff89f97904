/**
 * Expands families of arms. An arm whose environment is a pattern, e.g. "np/*", stands for one arm for each level of
 * each environment that matches, or with `grow` for one growing arm for each such environment with a growth axis.
 */
import { create } from "@bufbuild/protobuf";
import { LIMITS } from "../../../proto/limits.ts";
import type { Environment, Level } from "../../../envs/environment.ts";
import { hashKey } from "../../../envs/lib/rng.ts";
import type { Registry } from "../../../envs/registry.ts";
import type { Growth } from "../../curriculum/growth.ts";
import { ArmSchema, type Arm, GrowthSchema } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { Source, Split, TaskSpecSchema, type TaskSpec } from "../../../proto/gen/gradus/v1/task_pb.js";
import { RpcError } from "../../base/rpc.ts";
import { checkBytes, checkCount, invalid } from "../request-checks.ts";

/**
 * Returns whether a text matches a pattern in which "*" stands for any characters. It takes linear time for every
 * pattern.
 */
function isOf(pattern: string, text: string): boolean {
  const words = pattern.split("*");
  const [first = "", last = ""] = [words[0], words.at(-1)];
  if (words.length === 1) return text === pattern;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const word of words.slice(1, -1)) {
    at = text.indexOf(word, at) + word.length;
    if (at < word.length || at > end) return false;
  }
  return true;
}

/** Returns whether an id matches a pattern in which "*" stands for any characters except "/". */
export function matchesPattern(pattern: string, id: string): boolean {
  const [parts, names] = [pattern.split("/"), id.split("/")];
  return parts.length === names.length && parts.every((part, i) => isOf(part, names[i] ?? ""));
}

/**
 * Maximum number of levels that one call examines at the same time. Thousands at once would delay each of them, and
 * other callers, until nearly all are examined.
 */
const TRIED_AT_ONCE = 4;

const isFamily = ({ spec }: Arm): boolean => spec?.environment.includes("*") ?? false;

/** Returns the newest version of each environment that matches the pattern, in the registry's order. */
function matching(registry: Registry, pattern: string): readonly Environment[] {
  // While environments are being mounted, `find` throws UNAVAILABLE, because one of them may match the pattern.
  if (registry.mounting?.().length) registry.find(pattern);
  const ids = new Set(registry.environments.map(({ id }) => id).filter((id) => matchesPattern(pattern, id)));
  return [...ids].flatMap((id) => {
    const found = registry.find(id);
    return found.kind === "found" ? [found.environment] : [];
  });
}

/**
 * Returns whether an arm gives tasks. Only asked for arms that a family stands for, i.e. an arm whose environment is a
 * pattern such as "np/*".
 */
export type Served = (armId: string) => boolean;

/** Arm of an existing run. */
interface KnownArm {
  readonly id: string;
  readonly grow?: Growth;
}

/** Data that is needed to expand families of arms. If `isServed` is left out, all levels count as giving tasks. */
interface Families {
  readonly registry: Registry;
  readonly isServed?: Served | undefined;
  /** The run with the requested id, if it exists. Its arms keep the growth axes that they were created with. */
  readonly existing?: { readonly arms: readonly KnownArm[] } | undefined;
}

/** Number of characters that are kept of an arm's id that is too long. The rest is replaced by a hash. */
const LONG_START = 55;

/**
 * Returns the id of an arm of a family: environment and level, e.g. "np/tsp/easy", or the environment alone if the arm
 * grows. Characters that an id may not contain, e.g. the space in the level "5 disks", become "-".
 */
function idOf(environment: Pick<Environment, "id">, level?: Pick<Level, "name">): string {
  const whole = level === undefined ? environment.id : `${environment.id}/${level.name}`;
  const id = whole.replaceAll(/[^a-zA-Z0-9._/-]/g, "-");
  return id.length <= LIMITS.Arm.id.max ? id : `${id.slice(0, LONG_START)}-${hashKey("arm", whole).slice(0, 8)}`;
}

/**
 * Returns the levels for which a family stands: those that match its level pattern, of environments with a generator.
 * For the split train, levels for evaluation only are left out. Levels marked `byName` do not match the pattern "*".
 */
function levelsOf({ difficulty, split }: TaskSpec, environments: readonly Environment[]) {
  const wanted = difficulty.case === "level" ? difficulty.value : "*";
  const trains = split === Split.UNSPECIFIED || split === Split.TRAIN;
  return environments
    .filter(({ generator, asked }) => (generator ?? asked) !== undefined)
    .flatMap((environment) =>
      environment.levels
        .filter(({ name, evaluationOnly, byName }) => {
          if (trains && evaluationOnly === true) return false;
          return isOf(wanted, name) && !(wanted === "*" && byName === true);
        })
        .map((level) => ({ environment, level })),
    );
}

const isReadable = ({ environment, difficulty }: TaskSpec): boolean =>
  Buffer.byteLength(environment) <= LIMITS.TaskSpec.environment.max &&
  (difficulty.case !== "level" || Buffer.byteLength(difficulty.value) <= LIMITS.TaskSpec.level.max);

/**
 * Returns a function that tells whether an arm of a family (e.g. "np/*") gives tasks. For a new run, every level of a
 * mounted environment is examined first, and levels that cannot give tasks are left out. If the run exists, `run` has
 * its arms, and these are kept.
 */
export async function findServedArms(
  arms: readonly Arm[],
  registry: Registry,
  run?: readonly KnownArm[],
): Promise<Served> {
  const none = new Set<string>();
  const members = arms.filter(isFamily).flatMap(({ spec }) => {
    // Names that are too long are skipped here, and refused later with an error.
    if (spec === undefined || !isReadable(spec)) return [];
    return levelsOf(spec, matching(registry, spec.environment));
  });
  const ids = new Set(run?.map(({ id }) => id));
  const isOfRun = ({ environment, level }: (typeof members)[number]): boolean =>
    ids.has(idOf(environment)) || ids.has(idOf(environment, level));
  if (members.some(isOfRun)) return (armId) => ids.has(armId);
  if (run !== undefined) return () => true;
  // The easiest levels come first. So levels that are examined at once belong to different environments, and share
  // worker processes.
  const rank = ({ environment, level }: (typeof members)[number]): number => environment.levels.indexOf(level);
  const waiting = members.toSorted((a, b) => rank(a) - rank(b)).values();
  const lane = async (): Promise<void> => {
    for (const { environment, level } of waiting) {
      const why = await environment.asked?.whyNone(level.parameters);
      if (why !== undefined) none.add(idOf(environment, level));
    }
  };
  await Promise.all(Array.from({ length: TRIED_AT_ONCE }, lane));
  return (armId) => !none.has(armId);
}

/** The fields of an arm in which the members of a family differ. */
interface Member {
  readonly id: string;
  readonly environment: string;
  /** Undefined: the arm grows. */
  readonly level: string | undefined;
  readonly grow?: Growth;
}

/**
 * Returns the growth of an environment's arm in a family that grows: its whole axis `name`, or its first axis if the
 * name is empty. Undefined: it has no such axis, or its arms in the existing run do not grow.
 */
function growthOf(environment: Environment, name: string, { existing }: Families): Growth | undefined {
  if (existing !== undefined) return existing.arms.find(({ id }) => id === idOf(environment))?.grow;
  const axes = (environment.generator ?? environment.asked)?.axes ?? [];
  const axis = name === "" ? axes[0] : axes.find((each) => each.name === name);
  return axis && { axis: axis.name, start: axis.first, step: 1, cap: axis.last, guess: 0 };
}

/**
 * Returns the arms for which a family (e.g. "np/*") stands, without arms that give no tasks. An arm's id names its
 * environment and level, e.g. "np/tsp/easy", or only its environment if the arm grows.
 */
function servedMembers({ grow }: Arm, spec: TaskSpec, families: Families, field: string): readonly Member[] {
  const { registry, isServed = () => true } = families;
  const { environment: pattern } = spec;
  const found = matching(registry, pattern);
  if (found.length === 0)
    throw new RpcError("NOT_FOUND", `${field}.environment: no environment of this server matches '${pattern}'`, {
      field: `${field}.environment`,
    });
  const members = found
    .flatMap((environment): readonly Member[] => {
      const growth = grow && growthOf(environment, grow.axis, families);
      const { id } = environment;
      if (growth !== undefined) return [{ id: idOf(environment), environment: id, level: undefined, grow: growth }];
      const levels = levelsOf(spec, [environment]);
      return levels.map(({ level }) => ({ id: idOf(environment, level), environment: id, level: level.name }));
    })
    .filter(({ id }) => isServed(id));
  if (members.length > 0) return members;
  const ids = found.map(({ id }) => id).join(", ");
  throw invalid(
    `${field}.level`,
    `no level of ${ids} matches the given level, can be generated, and has tasks in the split: give another level`,
  );
}

/** Throws if a family that grows sets start, step, cap or level: each arm grows along its environment's whole axis. */
function checkGrowth({ grow }: Arm, { difficulty }: TaskSpec, field: string): void {
  if (grow === undefined) return;
  checkBytes(grow.axis, LIMITS.Growth.axis.max, `${field}.grow.axis`);
  const set = (["start", "step", "cap"] as const).find((name) => grow[name] !== 0);
  if (set !== undefined)
    throw invalid(
      `${field}.grow.${set}`,
      "the axes of a family differ: leave it out, or add an arm for one environment",
    );
  if (difficulty.case === "level")
    throw invalid(`${field}.spec.level`, "the growth axes give the levels of a family that grows: leave it out");
}

function membersOf(arm: Arm, spec: TaskSpec, families: Families, field: string): readonly Arm[] {
  if (arm.id !== "")
    throw invalid(`${field}.id`, "the arms of a family are named by their environments and levels: leave it out");
  if (spec.source !== Source.UNSPECIFIED && spec.source !== Source.SYNTHETIC)
    throw invalid(`${field}.spec.source`, "a family has generated tasks only: name arms of other sources one by one");
  if (spec.version !== 0)
    throw invalid(`${field}.spec.version`, "a family has the newest version of each environment: leave it out");
  if (spec.difficulty.case === "parameters")
    throw invalid(`${field}.spec.parameters`, "a family has levels with their own parameters: leave it out");
  checkGrowth(arm, spec, field);
  checkBytes(spec.environment, LIMITS.TaskSpec.environment.max, `${field}.spec.environment`);
  if (spec.difficulty.case === "level")
    checkBytes(spec.difficulty.value, LIMITS.TaskSpec.level.max, `${field}.spec.level`);
  return servedMembers(arm, spec, families, `${field}.spec`).map(({ id, environment, level, grow }) => {
    const difficulty =
      level === undefined ? ({ case: undefined } as const) : ({ case: "level", value: level } as const);
    return create(ArmSchema, {
      ...arm,
      id,
      spec: create(TaskSpecSchema, { ...spec, environment, difficulty }),
      grow: grow && create(GrowthSchema, grow),
    });
  });
}

/**
 * Replaces each family (an arm with a pattern, e.g. "np/*") by the arms for which it stands. These arms come after all
 * single arms, whose indices so stay the same. If a single arm has the same id, it is used instead.
 */
export function withFamilies(arms: readonly Arm[], families: Families, field: string): Arm[] {
  const single = arms.filter((arm) => !isFamily(arm));
  const named = new Set(single.map(({ id }) => id));
  const members = arms.flatMap((arm, i) =>
    arm.spec !== undefined && isFamily(arm) ? membersOf(arm, arm.spec, families, `${field}[${i}]`) : [],
  );
  const all = [...single, ...members.filter(({ id }) => !named.has(id))];
  checkCount(all.length, LIMITS.RunConfig.arms.max, members.length === 0 ? field : `${field}, with patterns expanded,`);
  return all;
}
