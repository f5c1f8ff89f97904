/** Domain to contract: tasks and environments. */
import { create } from "@bufbuild/protobuf";
import type { Environment } from "../../envs/environment.ts";
import { type Pool, rowCounts } from "../../envs/pool.ts";
import { rewardSchemes } from "../../envs/reward/schemes.ts";
import { type Environment as WireEnvironment, EnvironmentSchema } from "../gen/gradus/v1/environment_pb.js";
import { Source, type Task, TaskSchema } from "../gen/gradus/v1/task_pb.js";
import type { PresentedTask } from "../tasks/present.ts";
import { answerFormats, goals, sources, splits, thinkings } from "../tasks/wire-enums.ts";

export function taskToWire(task: PresentedTask, armId = ""): Task {
  const { family, run } = task;
  return create(TaskSchema, {
    taskId: task.taskId,
    groupId: task.groupId,
    prompt: task.prompt.map(({ role, content }) => ({ role, content })),
    environment: family.environment,
    version: family.version,
    level: family.level,
    split: splits.toWire[family.split],
    source: sources.toWire[family.source],
    answerFormat: answerFormats.toWire[family.answerFormat],
    thinking: thinkings.toWire[family.thinking],
    hints: { stop: [...task.stop], metadata: { ...task.metadata } },
    runId: run?.runId ?? "",
    armId,
    cursor: BigInt(run?.cursor ?? 0),
  });
}

export function environmentToWire(environment: Environment, pools: ReadonlyMap<string, Pool>): WireEnvironment {
  const own = [...pools.values()].filter((pool) => pool.environment === environment.id);
  const first = environment.rows?.defaultPool?.name;
  own.sort((a, b) => Number(b.name === first) - Number(a.name === first) || (a.name < b.name ? -1 : 1));
  return create(EnvironmentSchema, {
    id: environment.id,
    version: environment.version,
    description: environment.description,
    category: environment.id.split("/")[0] ?? "",
    goal: goals.toWire[environment.goal],
    levels: environment.levels.map(({ name, description, parameters, evaluationOnly }) => ({
      ...{ name, description, evaluationOnly: evaluationOnly ?? false },
      parameters: { values: { ...parameters } },
    })),
    parameters: (environment.generator?.parameters ?? []).map((info) => ({ ...info })),
    answerFormats: environment.answerFormats.map((format) => answerFormats.toWire[format]),
    rewardSchemes: environment.rewardSchemes.map(schemeToWire),
    sources: [
      ...(environment.generator === undefined ? [] : [Source.SYNTHETIC]),
      ...(environment.rows === undefined ? [] : [Source.REAL]),
    ],
    pools: own.map((pool) => ({ name: pool.name, rows: { ...rowCounts(pool) } })),
  });
}

function schemeToWire(name: string) {
  const scheme = rewardSchemes[name];
  if (scheme === undefined) throw new Error(`an environment names a reward scheme that is not there: ${name}`);
  const defaults = Object.fromEntries(scheme.parameters.map((info) => [info.name, info.defaultValue]));
  const { min, max } = scheme.range(defaults);
  return {
    ...{ name, description: scheme.description, rewardMin: min, rewardMax: max },
    parameters: scheme.parameters.map((info) => ({ ...info })),
  };
}
