/** Issues tasks again under other settings, so that stored completions can be scored once more. */
import { create } from "@bufbuild/protobuf";
import {
  type EnvironmentService,
  type RescoreSettings as WireSettings,
  type ReissueResult,
  ReissueResultSchema,
  ReissueTasksResponseSchema,
} from "../../../proto/gen/gradus/v1/environment_pb.js";
import { LIMITS } from "../../../proto/limits.ts";
import { codes, type CodeName, type ServiceHandlers } from "../../base/rpc.ts";
import { mapInSlices } from "../../base/time-slices.ts";
import { reissue, type RescoreSettings } from "../../tasks/reissue.ts";
import { mintTaskId, openTaskId } from "../../tasks/task-id.ts";
import type { ServiceDeps } from "../deps.ts";
import { answerFormats, thinkings } from "../enums.ts";
import { REWARD_PARAMETERS_MAX } from "../read-task-spec.ts";
import { checkBytes, checkCount, required } from "../request-checks.ts";

type Handlers = Pick<ServiceHandlers<typeof EnvironmentService>, "reissueTasks">;

export function reissueHandlers(deps: ServiceDeps): Handlers {
  return {
    async reissueTasks(request) {
      checkCount(request.taskIds.length, deps.limits.maxBatchSeeds, "task_ids", 1);
      const settings = readSettings(request.settings);
      const results = await mapInSlices(request.taskIds, (taskId) => reissueOne(deps, taskId, settings));
      return create(ReissueTasksResponseSchema, { results });
    },
  };
}

export function readSettings(wire: WireSettings | undefined): RescoreSettings {
  const { version = 0, rewardScheme, answerFormat = 0, thinking = 0 } = wire ?? {};
  const { name, parameters = {} } = rewardScheme ?? {};
  checkBytes(name ?? "", LIMITS.RewardScheme.name.max, "settings.reward_scheme.name");
  checkCount(Object.keys(parameters).length, REWARD_PARAMETERS_MAX, "settings.reward_scheme.parameters");
  return {
    ...(version !== 0 && { version }),
    ...(name !== undefined && { scheme: { name, parameters } }),
    ...(answerFormat !== 0 && {
      answerFormat: required(answerFormats.fromWire(answerFormat), "settings.answer_format"),
    }),
    ...(thinking !== 0 && { thinking: required(thinkings.fromWire(thinking), "settings.thinking") }),
  };
}

export function reissueOne(deps: ServiceDeps, taskId: string, settings: RescoreSettings): ReissueResult {
  const opened = openTaskId(deps.keyring, deps.registry, taskId);
  if (opened.kind === "invalid") return failed("FAILED_PRECONDITION", opened.detail);
  const again = reissue(deps, opened.token, settings);
  if (again.kind === "gone") return failed("FAILED_PRECONDITION", again.message);
  if (again.kind === "invalid") return failed("INVALID_ARGUMENT", `settings.${again.field}: ${again.message}`);
  const { token } = again;
  const minted = mintTaskId(deps.keyring, token);
  deps.scorer.expect(minted.taskId, minted.groupId, token);
  const { environment, version, level, calls: callsMax = 0 } = token;
  const numGenerations = opened.token.run?.numGenerations ?? 0;
  const task = { ...minted, environment, version, level, callsMax, numGenerations };
  return create(ReissueResultSchema, { result: { case: "task", value: task } });
}

function failed(code: CodeName, message: string): ReissueResult {
  const value = { code: codes[code], message, retryDelayMs: 0 };
  return create(ReissueResultSchema, { result: { case: "failure", value } });
}
