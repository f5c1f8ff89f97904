/**
 * Reads the growth of arms: along which axis and how far their tasks get harder. Makes the task specification of each
 * level.
 */
import { create } from "@bufbuild/protobuf";
import { LIMITS } from "../../../proto/limits.ts";
import type { Environment, GrowthAxis, Parameters } from "../../../envs/environment.ts";
import { didYouMean } from "../../../envs/lib/text.ts";
import { resolveParameters } from "../../../envs/parameters.ts";
import { type Growth, levelCount, LEVELS_MAX, valueOf } from "../../curriculum/growth.ts";
import type { Arm } from "../../curriculum/types.ts";
import { type Growth as WireGrowth, GrowthSchema } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { ParametersSchema, Source, type TaskSpec as WireSpec } from "../../../proto/gen/gradus/v1/task_pb.js";
import { resolveTurns } from "../../tasks/resolve-turns.ts";
import type { TaskSpec } from "../../tasks/spec.ts";
import type { ServiceDeps } from "../deps.ts";
import { lookUpEnvironment, readSpec } from "../read-task-spec.ts";
import { checkBytes, checkRange, invalid } from "../request-checks.ts";

type Deps = Pick<ServiceDeps, "registry" | "pools" | "teacher" | "missingPorts">;

/** Specification of a growing arm, with the parameters of each level. */
interface Growing {
  readonly spec: TaskSpec;
  readonly grow: Growth;
}

function axisOf({ id, generator, asked }: Environment, name: string, field: string): GrowthAxis {
  const axes = (generator ?? asked)?.axes ?? [];
  const found = axes.find((axis) => axis.name === name);
  if (found !== undefined) return found;
  const names = axes.map((axis) => axis.name);
  if (names.length === 0) throw invalid(field, `${id} has no growth axes: give the arm a level`);
  throw invalid(field, `${id} has no axis '${name}'${didYouMean(name, names)}; it has: ${names.join(", ")}`);
}

/**
 * Returns the axis of an arm as it was when its run was created. Since then the environment's axis may have become
 * shorter, because a mounted level is refused; the run keeps its levels. Undefined: the run does not have this growth.
 */
function keptAxis({ axis, start, step, cap }: WireGrowth, kept: KeptArm | undefined): GrowthAxis | undefined {
  const { grow, spec: { levels = [] } = {} } = kept ?? {};
  const [first = {}] = levels;
  if (grow === undefined || levels.length < 2) return undefined;
  if (grow.axis !== axis || grow.step !== (step || 1)) return undefined;
  if (![0, grow.start].includes(start) || ![0, grow.cap].includes(cap)) return undefined;
  const names = Object.keys(first).filter((name) => levels.some((level) => level[name] !== first[name]));
  const parametersAt = (value: number): Parameters => {
    const level = levels[(value - grow.start) / grow.step] ?? first;
    return Object.fromEntries(names.map((name) => [name, level[name] ?? 0]));
  };
  return { name: axis, first: grow.start, last: grow.cap, guess: grow.guess, parametersAt };
}

function growthOf(given: WireGrowth, environment: Environment, field: string, kept?: GrowthAxis) {
  const name = checkBytes(given.axis, LIMITS.Growth.axis.max, `${field}.axis`);
  const axis = kept ?? axisOf(environment, name, `${field}.axis`);
  const start = checkRange(given.start || axis.first, axis.first, axis.last, `${field}.start`);
  const step = given.step || 1;
  const cap = checkRange(given.cap || axis.last, start, axis.last, `${field}.cap`);
  const growth = { axis: axis.name, start, step, cap, guess: axis.guess ?? 0 };
  const count = levelCount(growth);
  if (count <= LEVELS_MAX) return { axis, growth };
  throw invalid(`${field}.cap`, `gives ${count} levels, and the limit is ${LEVELS_MAX}: lower it, or raise the step`);
}

/**
 * Returns the parameters of each level of an arm that grows. A parameter that the axis does not set has the value in
 * `base`.
 */
function levelsOf(environment: Environment, axis: GrowthAxis, growth: Growth, base: Parameters, field: string) {
  return Array.from({ length: levelCount(growth) }, (_, level): Parameters => {
    const values = { ...base, ...axis.parametersAt(valueOf(growth, level)) };
    const resolved = resolveParameters(environment, values);
    if (resolved.kind === "ok") return resolved.parameters;
    throw invalid(field, `at ${growth.axis} ${valueOf(growth, level)}: ${resolved.message}`);
  });
}

/**
 * Throws if an arm's turns (calls and tools) do not fit the parameters of its last level, e.g. because its task ids
 * would be too long.
 */
function checkTurns(
  environment: Environment,
  { calls = 0, tools = [], detail }: TaskSpec,
  field: string,
  last?: Parameters,
) {
  const resolved = resolveTurns(environment, { calls, tools, detail: detail ?? "" }, last);
  if (resolved.kind === "invalid") throw invalid(`${field}.cap`, `the last level does not fit: ${resolved.message}`);
}

/** Fields of an arm of an existing run. */
type KeptArm = Pick<Arm<TaskSpec>, "grow" | "spec">;

/**
 * Reads the specification of an arm that grows. `field` is the path of the arm in error messages, and `before` the arm
 * of the existing run with the same id.
 */
export function growingSpec(given: WireSpec, grow: WireGrowth, deps: Deps, field: string, before?: KeptArm): Growing {
  const { environment: id, version, source, difficulty } = given;
  const environment = lookUpEnvironment(deps.registry, id, version, `${field}.spec.environment`);
  if (source !== Source.UNSPECIFIED && source !== Source.SYNTHETIC)
    throw invalid(`${field}.spec.source`, "only generated tasks can grow: ask for SOURCE_SYNTHETIC, or leave it out");
  if (difficulty.case === "level")
    throw invalid(`${field}.spec.level`, "an arm that grows has the levels of its axis: leave it out");
  const kept = keptAxis(grow, before);
  const { axis, growth } = growthOf(grow, environment, `${field}.grow`, kept);
  const set = axis.parametersAt(growth.start);
  const values = difficulty.value?.values ?? {};
  const taken = Object.keys(values).find((name) => Object.hasOwn(set, name));
  if (taken !== undefined)
    throw invalid(`${field}.spec.parameters.${taken}`, `the axis '${axis.name}' sets it: leave it out`);
  const first = { case: "parameters" as const, value: create(ParametersSchema, { values: { ...values, ...set } }) };
  const spec = readSpec({ ...given, source: Source.SYNTHETIC, difficulty: first }, deps, `${field}.spec`);
  const levels = (kept && before?.spec.levels) ?? levelsOf(environment, axis, growth, { ...values }, `${field}.grow`);
  checkTurns(environment, spec, `${field}.grow`, levels.at(-1));
  return { spec: { ...spec, levels }, grow: growth };
}

/**
 * Returns the arms whose growth a request extends, with the specifications of the added levels. Throws if an arm does
 * not grow.
 */
export function grownArms(
  given: Readonly<Record<string, WireGrowth>>,
  arms: readonly Arm<TaskSpec>[],
  { registry }: Deps,
): readonly Arm<TaskSpec>[] {
  return Object.entries(given).map(([id, grow]) => {
    const field = `grow_arms["${id}"]`;
    const arm = arms.find((one) => one.id === id && !one.removed);
    if (arm === undefined) throw invalid(field, "is not an arm of the run");
    if (arm.grow === undefined)
      throw invalid(
        field,
        "the arm was created without grow, so its levels cannot be extended: add another arm with grow",
      );
    const { spec, grow: before } = arm;
    const environment = lookUpEnvironment(registry, spec.environment, spec.version, field);
    const asked = create(GrowthSchema, { ...before, cap: grow.cap });
    for (const name of ["axis", "start", "step"] as const) if (grow[name]) Object.assign(asked, { [name]: grow[name] });
    const { axis, growth } = growthOf(asked, environment, field);
    const added = levelsOf(environment, axis, growth, spec.parameters, field);
    const levels = [...(spec.levels ?? []), ...added.slice(spec.levels?.length)];
    checkTurns(environment, spec, field, levels.at(-1));
    return { ...arm, grow: { ...growth, guess: before.guess }, spec: { ...spec, levels } };
  });
}
