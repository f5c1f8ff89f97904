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
  const config = await readConfig(deps, asked, before.kind === "ok" ? before.value.config : undefined);
  // The arms of an existing run were checked when it was created.
  if (before.kind === "not_found") {
    await checkTasks(deps, config, asked.trainOnEvaluated, requesterOf(context));
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
 * the levels of families are then taken from it, so that CreateRun can be repeated.
 */
export async function readConfig(
  deps: ServiceDeps,
  asked: wire.RunConfig,
  existing?: RunConfig<TaskSpec>,
): Promise<RunConfig<TaskSpec>> {
  const isServed = await findServedArms(asked.arms, deps.registry, existing?.arms);
  const given = keepVersions(deps, runConfigFromWire(asked, { ...deps, isServed, existing }), existing);
  return { ...given, policy: countRanks(deps, given.policy, given.arms, "config.") };
}

/**
 * Throws an error if an arm gives no tasks, or gives tasks that must not be trained on because an evaluation uses them.
 */
export async function checkTasks(
  deps: ServiceDeps,
  config: RunConfig<TaskSpec>,
  trainOnEvaluated: boolean,
  requester: Requester,
): Promise<void> {
  await checkArms(deps, config, requester);
  const { evaluationArms: arms, seed } = config;
  await checkArms(deps, { arms, seed }, requester, "config.evaluation_arms");
  if (!trainOnEvaluated) await checkEvaluatedRows(deps, config, "config.arms");
}
