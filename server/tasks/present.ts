/** What a trainer is shown of a task. */
import { stopStrings } from "../../envs/answers/wording.ts";
import type { ChatMessage } from "../../envs/environment.ts";
import { restore } from "../../envs/instances.ts";
import type { Pool } from "../../envs/pool.ts";
import type { Registry } from "../../envs/registry.ts";
import { rewardSchemes } from "../../envs/reward/schemes.ts";
import type { Keyring } from "./keyring.ts";
import type { Scorer } from "./scorer.ts";
import type { TaskFamily } from "./spec.ts";
import { mintTaskId, type RunPlace, type Ticket } from "./task-id.ts";
import type { Draft } from "./workers.ts";

export interface PresentedTask {
  readonly taskId: string;
  readonly groupId: string;
  readonly prompt: readonly ChatMessage[];
  readonly stop: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly family: TaskFamily;
  readonly run?: RunPlace;
}

function ticketOf(
  family: TaskFamily,
  draft: Draft,
  run: RunPlace | undefined,
  instance: Uint8Array | undefined,
): Ticket {
  const { environment, version, split, answerFormat, thinking, rewardScheme, rewardParameters } = family;
  return {
    ...{ environment, version, split, answerFormat, thinking, rewardScheme },
    rewardParameters: withoutDefaults(rewardScheme, rewardParameters),
    level: draft.origin.kind === "generated" ? family.level : "",
    origin: draft.origin,
    ...(draft.baseline && { baseline: draft.baseline }),
    ...(run && { run }),
    ...(instance && { instance }),
  };
}

function withoutDefaults(scheme: string, parameters: TaskFamily["rewardParameters"]): TaskFamily["rewardParameters"] {
  const infos = rewardSchemes[scheme]?.parameters ?? [];
  const given = infos.filter(({ name, defaultValue }) => parameters[name] !== defaultValue);
  return Object.fromEntries(given.map(({ name }) => [name, parameters[name] as number]));
}

export interface PresentDeps {
  readonly keyring: Keyring;
  readonly registry: Registry;
  readonly pools: ReadonlyMap<string, Pool>;
  readonly scorer: Pick<Scorer, "expect">;
}

/** The prompt is rendered from the draft each time it is asked for, so that asking again gives the same. */
export function presentTask(deps: PresentDeps, family: TaskFamily, draft: Draft, run?: RunPlace): PresentedTask {
  const found = deps.registry.find(family.environment, family.version);
  if (found.kind !== "found") throw new Error(found.message);
  const restored = restore(found.environment, draft.origin, deps.pools);
  if (restored.kind === "invalid") throw new Error(restored.message);
  const { instance } = restored;
  const { environment } = found;
  const ticket = ticketOf(family, draft, run, environment.inline?.encode(instance));
  const minted = mintTaskId(deps.keyring, ticket);
  deps.scorer.expect({ ...minted, ticket, environment, instance });
  return {
    ...minted,
    prompt: environment.render(instance, family.answerFormat),
    stop: stopStrings(family.answerFormat),
    metadata: environment.metadata(instance),
    family,
    ...(run && { run }),
  };
}
