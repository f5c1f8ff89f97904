/** Scores a stream of groups. Results are matched to groups by id. */
import { create } from "@bufbuild/protobuf";
import type { CallOptions, Caller } from "./caller.ts";
import { groupOf } from "./choices.ts";
import type { GroupChoice } from "./choices.ts";
import { WINDOW } from "./defaults.ts";
import { asGradusError } from "./errors.ts";
import type { GradusError } from "./errors.ts";
import { BatchStepRequestSchema, EnvironmentService } from "../../../proto/gen/gradus/v1/environment_pb.js";
import { groupOutcomeOf } from "./outcomes.ts";
import type { GroupOutcome } from "./outcomes.ts";
import { present } from "./reply.ts";
import type { StepChannel, Transport } from "./transport.ts";
import { windowed } from "./windowed.ts";
import type { Items } from "./windowed.ts";

export interface StreamOptions extends CallOptions {
  /** Maximum number of groups that wait for a result, at least 1. Defaults to 64. */
  readonly window?: number | undefined;
}

/** Result of one group of a stream. Each group has exactly one. */
export type StepResult<Group extends GroupChoice = GroupChoice> =
  | {
      readonly kind: "scored";
      /** Group as the caller gave it. */
      readonly group: Group;
      /** Position of the group in the order in which the caller gave the groups, counted from 0. */
      readonly index: number;
      readonly outcome: GroupOutcome;
    }
  | { readonly kind: "failed"; readonly group: Group; readonly index: number; readonly error: GradusError };

/** Returns a channel that makes BatchStep calls, for transports without bidirectional streams. */
function batchChannel(transport: Transport): StepChannel {
  return {
    request: async (groups, attempt) => {
      const message = create(BatchStepRequestSchema, { groups: [...groups] });
      return (await transport.unary(EnvironmentService.method.batchStep, message, attempt)).groups;
    },
    end: () => undefined,
    cancel: () => undefined,
  };
}

/** Scores groups as they arrive. See GradusClient.streamSteps. */
export async function* streamSteps<Group extends GroupChoice>(
  caller: Caller,
  groups: Items<Group>,
  options: StreamOptions = {},
): AsyncGenerator<StepResult<Group>, void, undefined> {
  const channel = caller.transport.openSteps?.() ?? batchChannel(caller.transport);
  // Give each group its own controller, because older Node versions warn of a leak if a signal has many listeners.
  const underWay = new Set<AbortController>();
  const score = async (group: Group, index: number): Promise<StepResult<Group>> => {
    const leaving = new AbortController();
    underWay.add(leaving);
    try {
      const message = groupOf(group);
      const outcomes = await caller.attempting((attempt) => channel.request([message], attempt), {
        deadlineMs: options.deadlineMs,
        signal: leaving.signal,
      });
      const outcome = groupOutcomeOf(present(outcomes[0], "outcome of the group"));
      caller.feedback.note({ runId: group.task.runId, outcomes: outcome.outcomes });
      return { kind: "scored", group, index, outcome };
    } catch (error) {
      return { kind: "failed", group, index, error: asGradusError(error) };
    } finally {
      underWay.delete(leaving);
    }
  };
  let done = false;
  try {
    yield* windowed(groups, Math.max(1, options.window ?? WINDOW), score, options.signal);
    done = true;
    channel.end();
  } finally {
    // Abort the groups that are left if the source failed, the signal aborted, or the reader left. After a normal end,
    // none is left.
    for (const leaving of underWay) leaving.abort();
    if (!done) channel.cancel();
  }
}
