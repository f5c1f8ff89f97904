/**
 * Issues tasks again, so that stored completions can be scored once more: with the same instances, but other settings,
 * and outside of any run.
 */
import { restore } from "../../envs/instances.ts";
import type { Environment } from "../../envs/environment.ts";
import { mountedPlaceOf } from "../../envs/mounted-tasks.ts";
import type { Pool } from "../../envs/pool.ts";
import type { Registry } from "../../envs/registry.ts";
import { changedParameters, resolveScheme } from "../../envs/reward/schemes.ts";
import { instanceHash } from "../../envs/splits.ts";
import type { TaskToken } from "./task-id.ts";

/** Settings under which stored completions are scored again. Unset members keep those of the task. */
export interface RescoreSettings extends Partial<Pick<TaskToken, "answerFormat" | "thinking">> {
  readonly version?: number;
  /** Reward scheme. The name "" means the task's own scheme. */
  readonly scheme?: { readonly name: string; readonly parameters: Readonly<Record<string, number>> };
}

export type Reissued =
  | { readonly kind: "ok"; readonly token: TaskToken }
  /** The environment does not have a setting. `field` is its name in the message RescoreSettings. */
  | { readonly kind: "invalid"; readonly field: string; readonly message: string }
  /** The task's instance cannot be made under the version. */
  | { readonly kind: "gone"; readonly message: string };

interface Deps {
  readonly registry: Registry;
  readonly pools: ReadonlyMap<string, Pool>;
}

/** Returns the content of the new task's id. It has no run and no episode. */
export function reissue(deps: Deps, given: TaskToken, settings: RescoreSettings): Reissued {
  const { run: _run, episode: _episode, digest: _digest, ...token } = given;
  const { version = token.version, answerFormat = token.answerFormat, thinking = token.thinking } = settings;
  const found = deps.registry.find(token.environment, version);
  if (found.kind !== "found") {
    const isAsked = settings.version !== undefined;
    return isAsked ? refuse("version", found.message) : { kind: "gone", message: found.message };
  }
  const { environment } = found;
  if (!environment.answerFormats.includes(answerFormat))
    return refuse("answer_format", `${environment.id} takes ${environment.answerFormats.join(", ")}`);
  const scheme = schemeOf(environment, token, settings);
  if (scheme.kind === "invalid") return refuse(`reward_scheme.${scheme.field}`, scheme.message);
  const moved = version === token.version ? token : movedTo(environment, version, token, deps);
  if (moved === undefined)
    return { kind: "gone", message: `${environment.id} version ${version} does not make the instance of this task` };
  const digest = environment.asked?.digest;
  const { name: rewardScheme, parameters: rewardParameters } = scheme;
  const changed = { answerFormat, thinking, rewardScheme, rewardParameters, ...(digest !== undefined && { digest }) };
  return { kind: "ok", token: { ...moved, ...changed } };
}

function refuse(field: string, message: string) {
  return { kind: "invalid", field, message } as const;
}

/**
 * Returns the name of the reward scheme under which the task is scored again, and its parameters that differ from the
 * scheme's defaults. If `asked` names no other scheme, the task keeps its scheme, and all parameters that `asked` does
 * not set.
 */
function schemeOf(
  environment: Environment,
  { rewardScheme, rewardParameters, calls }: TaskToken,
  asked: RescoreSettings,
) {
  const { name: wanted = "", parameters: given = {} } = asked.scheme ?? {};
  const name = wanted === "" ? rewardScheme : wanted;
  const before = name === rewardScheme ? rewardParameters : {};
  const resolved = resolveScheme(environment, name, { ...before, ...given }, calls !== undefined);
  if (resolved.kind === "invalid") return resolved;
  const { scheme, parameters } = resolved.scheme;
  return { kind: "ok", name: scheme.name, parameters: changedParameters(scheme, parameters) } as const;
}

/**
 * Returns the task under another version of its environment. Undefined: that version does not make the same instance
 * from the task's origin, e.g. its seed.
 */
function movedTo(environment: Environment, version: number, token: TaskToken, { registry, pools }: Deps) {
  const { key } = token;
  const before = registry.find(token.environment, token.version);
  // One definition of the environment serves both versions, so both make the same instance.
  if (before.kind === "found" && before.environment === environment) return { ...token, version };
  // In the other version, the level may have other parameters, and an encoded instance may have another form. Without
  // both, the instance is made again from its origin.
  const { inline: _, ...rest } = token;
  const moved = { ...rest, version, level: "" };
  // The provider of a mounted environment makes the instance again when it scores, and compares the instance's hash
  // then.
  if (environment.asked !== undefined) return mountedPlaceOf(key) && moved;
  const restored = restore(environment, key.origin, pools);
  return restored.kind === "ok" && instanceHash(environment, restored.instance) === key.hash ? moved : undefined;
}
