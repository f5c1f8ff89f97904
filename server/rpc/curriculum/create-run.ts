/** Creates a run: reads its configuration, checks that its arms give tasks, and stores it. */
import { create } from "@bufbuild/protobuf";
import type { RunConfig } from "../../curriculum/types.ts";
import * as wire from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import type { Requester } from "../../tasks/making/mounted-tasks.ts";
import type { TaskSpec } from "../../tasks/spec.ts";
import type { CallContext } from "../../base/rpc.ts";
import { checkArms, checkEvaluatedRows, growthWarnings, rowWarnings } from "./check-arms.ts";
import { findServedArms } from "./expand-families.ts";
import { countRanks } from "./rank-ranges.ts";
import { keepVersions, runConfigFromWire, runConfigToWire } from "./read-run-config.ts";
import { readRunId, required, requesterOf } from "../request-checks.ts";
import { begunRatings } from "./row-handlers.ts";
import type { ServiceDeps } from "../deps.ts";
import { okOrThrow } from "../to-rpc-error.ts";
import { checkSameTrainer } from "./trainer-settings.ts";
import { runToWire } from "./write.ts";

export async function createRun(
  deps: ServiceDeps,
  request: wire.CreateRunRequest,
  context: CallContext,
): Promise<wire.CreateRunResponse> {
  const runId = readRunId(request);
  const asked = required(request.config, "config");
  const before = await deps.runs.get(runId);
  let config = await readConfig(deps, asked, before.kind === "ok" ? before.value.config : undefined);
  // The arms of an existing run were checked when it was created.
  if (before.kind === "not_found") {
    config = await checkTasks(deps, config, asked, requesterOf(context));
    for (const warning of [...(await rowWarnings(deps, config)), ...growthWarnings(deps, config.arms)])
      context.log.warn({ runId, warning }, "warning about the tasks of a new run");
  }
  const rated = begunRatings(deps, { arms: config.arms, from: 0 }, asked.arms, "config.arms");
  const { run, created } = okOrThrow(await deps.runs.create(runId, config, rated), "config.");
  checkSameTrainer(runId, runConfigToWire(run.config), asked);
  return create(wire.CreateRunResponseSchema, { run: runToWire(run), created });
}

/**
 * Reads a run's configuration. If a run with this id exists, `existing` is its configuration. Environment versions and
 * the levels of families (arms such as "np/*") are then taken from the existing run, so that CreateRun can be repeated.
 * Arms of families with an id in `without` are left out.
 */
export async function readConfig(
  deps: ServiceDeps,
  asked: wire.RunConfig,
  existing?: RunConfig<TaskSpec>,
  without?: ReadonlySet<string>,
): Promise<RunConfig<TaskSpec>> {
  const served = await findServedArms(asked.arms, deps.registry, existing?.arms);
  const isServed = (armId: string): boolean => served(armId) && without?.has(armId) !== true;
  const given = keepVersions(deps, runConfigFromWire(asked, { ...deps, isServed, existing }), existing);
  return { ...given, policy: countRanks(deps, given.policy, given.arms, "config.") };
}

/**
 * Returns the configuration `read` of a new run without the arms of families that give no tasks. Throws an error if
 * another arm gives none, or gives tasks that must not be trained on because an evaluation uses them.
 */
export async function checkTasks(
  deps: ServiceDeps,
  read: RunConfig<TaskSpec>,
  asked: wire.RunConfig,
  requester: Requester,
): Promise<RunConfig<TaskSpec>> {
  const named = new Set(asked.arms.map(({ id }) => id));
  const without = await checkArms(deps, read, requester, "config.arms", ({ id }) => !named.has(id));
  const config = without.size === 0 ? read : await readConfig(deps, asked, undefined, without);
  const { evaluationArms: arms, seed } = config;
  await checkArms(deps, { arms, seed }, requester, "config.evaluation_arms");
  if (!asked.trainOnEvaluated) await checkEvaluatedRows(deps, config, "config.arms");
  return config;
}
