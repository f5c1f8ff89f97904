/** Converts environments to protobuf messages. */
import { create } from "@bufbuild/protobuf";
import type { Environment, GrowthAxis } from "../../../envs/environment.ts";
import { groupCounts, type Pool, rowCounts } from "../../../envs/pool.ts";
import { RETURNS } from "../../../envs/reward/returns.ts";
import { schemeNamed } from "../../../envs/reward/schemes.ts";
import { determinismOf } from "../../../envs/resource.ts";
import { sharesRows } from "../../../envs/splits.ts";
import { type Environment as WireEnvironment, EnvironmentSchema } from "../../../proto/gen/gradus/v1/environment_pb.js";
import { Source } from "../../../proto/gen/gradus/v1/task_pb.js";
import { poolDigest } from "../../rows/digest.ts";
import { takesTeachers } from "../../outside/teacher/check-proposal.ts";
import { answerFormats, goals, splits } from "../enums.ts";
import { toolToWire } from "../write-task.ts";
import type { ServiceDeps } from "../deps.ts";

type EnvironmentDeps = Pick<ServiceDeps, "pools" | "teacher">;

export function environmentToWire(environment: Environment, { pools, teacher }: EnvironmentDeps): WireEnvironment {
  const { turns } = environment;
  const own = [...pools.values()].filter(({ definition }) => sharesRows(definition, environment));
  const first = environment.rows?.defaultPool?.name;
  own.sort((a, b) => Number(b.name === first) - Number(a.name === first) || (a.name < b.name ? -1 : 1));
  return create(EnvironmentSchema, {
    id: environment.id,
    version: environment.version,
    earlierVersions: [...(environment.earlier ?? [])],
    description: environment.description,
    category: environment.id.split("/")[0] ?? "",
    goal: goals.toWire[environment.goal],
    levels: environment.levels.map(({ name, description, parameters, evaluationOnly, small }) => ({
      name,
      description,
      evaluationOnly: evaluationOnly ?? false,
      small: small ?? false,
      parameters: { values: { ...parameters } },
    })),
    parameters: ((environment.generator ?? environment.asked)?.parameters ?? []).map((info) => ({ ...info })),
    answerFormats: environment.answerFormats.map((format) => answerFormats.toWire[format]),
    rewardSchemes: [...environment.rewardSchemes, ...(turns?.optional === true ? RETURNS : [])].map((name) =>
      schemeToWire(environment, name),
    ),
    sources: [
      ...((environment.generator ?? environment.asked) === undefined ? [] : [Source.SYNTHETIC]),
      ...(environment.rows === undefined ? [] : [Source.REAL]),
      ...(teacher !== undefined && takesTeachers(environment) ? [Source.TEACHER] : []),
    ],
    calls: turns === undefined || turns.optional === true ? 0 : turns.calls,
    callsMax: turns?.callsMax ?? 0,
    tools: (turns?.tools ?? []).map(toolToWire),
    ...determinismOf(environment),
    pools: own.map((pool) => poolToWire(pool, pool.name === first)),
    axes: ((environment.generator ?? environment.asked)?.axes ?? []).map(axisToWire),
  });
}

function axisToWire(axis: GrowthAxis) {
  const { name, first, last, guess = 0, smallThrough = 0 } = axis;
  const places = Array.from({ length: last - first + 1 }, (_, i) => axis.parametersAt(first + i));
  const parameters = Object.keys(places[0] ?? {}).map((parameter) => {
    const set = places.map((each) => each[parameter] ?? 0);
    return { name: parameter, values: set.every((each, i) => each === first + i) ? [] : set };
  });
  return { name, first, last, parameters, guess, smallThrough };
}

function poolToWire(pool: Pool, shipped: boolean) {
  const { name, rejected, leftOut, unchecked, ranking } = pool;
  const { source: rankedBy = "", measure: rankMeasure = "" } = ranking;
  const groups = groupCounts(pool).map(({ level, split, rows }) => ({ level, split: splits.toWire[split], rows }));
  const counts = { rows: { ...rowCounts(pool) }, groups, rejected, leftOut, unchecked };
  return { name, ...counts, shipped, rankedBy, rankMeasure, digest: poolDigest(pool) };
}

function schemeToWire(environment: Environment, name: string) {
  const scheme = schemeNamed(environment, name);
  if (scheme === undefined) throw new Error(`bug: an environment names an unknown reward scheme, ${name}`);
  const defaults = Object.fromEntries(scheme.parameters.map((info) => [info.name, info.defaultValue]));
  const { min, max } = scheme.range(defaults);
  return {
    name,
    description: scheme.description,
    rewardMin: min,
    rewardMax: max,
    parameters: scheme.parameters.map((info) => ({ ...info })),
  };
}
