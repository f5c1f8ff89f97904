/** Mounted environment in a run whose host and server are killed: its arms, its answers, and its processes. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { RunChoice, Task } from "../../../clients/ts/src/index.ts";
import { wrapAnswer } from "../../../envs/answers/wording.ts";
import { rngFor } from "../../../envs/lib/rng.ts";

/** Path of Gradus's Python package. */
export const CHECKOUT = join(import.meta.dirname, "../../../clients/python/src");

/** Levels of test/support/mounted/word.py; no task id has room for an instance of the last. */
const LEVELS = ["short", "long", "vast"] as const;

export function mountedArms(): RunChoice["arms"] {
  return LEVELS.map((level) => ({ id: `mounted/${level}`, environment: "mine/word", level }));
}

/**
 * Returns the same completion for the same task and sample: right, wrong, or one at which the verifier raises.
 * Undefined: the task is of no mounted arm.
 */
export function mountedCompletion({ armId, instanceHash, prompt }: Task, sample: number): string | undefined {
  if (!armId.startsWith("mounted/")) return undefined;
  const word = /backwards: ([a-z]+)/.exec(prompt[0]?.content ?? "")?.[1] ?? "";
  const chance = rngFor("mounted policy", instanceHash, sample).float();
  const answer = chance < 0.5 ? [...word].reverse().join("") : chance < 0.9 ? word : "raise";
  return wrapAnswer(answer, "think_answer");
}

/** Returns the process id of a server's host; undefined: the server has no host. */
export function hostOf(server: number): number | undefined {
  const children = readdirSync(`/proc/${server}/task`).flatMap((task) =>
    readFileSync(`/proc/${server}/task/${task}/children`, "utf8").trim().split(" "),
  );
  const isHost = (pid: string): boolean => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("gradus.serve.host");
  const found = children.filter((pid) => pid !== "").find(isHost);
  return found === undefined ? undefined : Number(found);
}
