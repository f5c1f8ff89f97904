/** Where runs get their tasks from: an arm's family, and a task of it for each ordinal. */
import { assertNever } from "../../envs/lib/assert-never.ts";
import { deriveSeed } from "../../envs/lib/rng.ts";
import type { TaskSource } from "../curriculum/runs/ports.ts";
import type { Arm, Json } from "../curriculum/types.ts";
import type { Issuer } from "./make.ts";
import type { TaskFamily } from "./spec.ts";
import type { Draft } from "./workers.ts";

/** What a run keeps of an arm's family: JSON as it is. */
export function familyToJson(family: TaskFamily): Json {
  return { ...family, parameters: { ...family.parameters }, rewardParameters: { ...family.rewardParameters } };
}

export function familyOfArm(arm: Arm): TaskFamily {
  return arm.spec as unknown as TaskFamily;
}

/** JSON has no bigint: a seed is kept as its decimal digits. */
export function draftToJson(draft: Draft): Json {
  const { origin, hash, baseline } = draft;
  if (origin.kind === "inline") throw new Error("inline tasks are not issued by runs");
  const kept = origin.kind === "generated" ? { ...origin, seed: String(origin.seed) } : origin;
  return JSON.parse(JSON.stringify({ origin: kept, hash, baseline })) as Json;
}

export function draftFromJson(json: Json): Draft {
  const draft = json as unknown as Draft;
  const { origin } = draft;
  return origin.kind === "generated" ? { ...draft, origin: { ...origin, seed: BigInt(origin.seed) } } : draft;
}

/** How long a draw waits before it tries again what took too long. */
const TIMEOUT_RETRY_MS = 1000;

export function createRunSource(issuer: Issuer): TaskSource {
  return {
    async issue(arm, { seed, runSeed, ordinal }) {
      const armSeed = deriveSeed("arm", runSeed, arm.id);
      const result = await issuer.issueOrdinal(familyOfArm(arm), { armSeed, ordinal, seed });
      switch (result.kind) {
        case "draft":
          return { kind: "task", hash: result.draft.hash, draft: draftToJson(result.draft) };
        case "exhausted":
          return { kind: "none" };
        case "timeout":
          return { kind: "unavailable", message: result.message, retryDelayMs: TIMEOUT_RETRY_MS };
        case "overloaded": {
          const { retryDelayMs } = result;
          return { kind: "unavailable", message: "the workers' queue is full", retryDelayMs };
        }
        case "cancelled":
          throw new Error("a draw of a run was cancelled, though nothing can cancel it");
        default:
          return assertNever(result);
      }
    },
  };
}
