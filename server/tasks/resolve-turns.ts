/**
 * Checks the settings of tasks with several turns in a client's specification (maximum calls, tools, detail of
 * replies), and fills in defaults.
 */
import type { Environment, Parameters } from "../../envs/environment.ts";
import { didYouMean } from "../../envs/lib/text.ts";
import { episodeBytesMax, type ReplyDetail } from "../../envs/turns/turns.ts";
import type { TaskSpec } from "./spec.ts";
import { EPISODE_BYTES_MAX } from "./task-id.ts";

/** Settings of tasks with several turns, as a client gives them. 0 and empty: the environment's default. */
interface GivenTurns {
  readonly calls: number;
  readonly tools: readonly string[];
  readonly detail: string;
}

type Field = keyof GivenTurns;

const DETAILS: readonly string[] = ["verdict", "reason", "distance"] satisfies readonly ReplyDetail[];

export type ResolvedTurns =
  | { readonly kind: "ok"; readonly turns: Pick<TaskSpec, "calls" | "tools" | "detail"> }
  | { readonly kind: "invalid"; readonly field: Field; readonly message: string };

/**
 * Checks `calls` (0: the environment's default) and the names of tools, and fills in defaults. Refuses settings with
 * which a task_id could become too long. `parameters` are undefined if they could not be read.
 */
export function resolveTurns(
  { id, turns }: Environment,
  { calls: asked, tools: named, detail }: GivenTurns,
  parameters: Parameters | undefined,
): ResolvedTurns {
  const refuse = (field: Field, message: string) => ({ kind: "invalid", field, message }) as const;
  const tools = [...new Set(named)];
  if (detail !== "" && (turns?.optional !== true || asked <= 1))
    return refuse(
      "detail",
      "only tasks of several calls have replies to answers: ask for more calls, or leave it empty",
    );
  if (detail !== "" && !DETAILS.includes(detail))
    return refuse("detail", `there is no detail '${detail}'; choose one of: ${DETAILS.join(", ")}`);
  if (turns === undefined) {
    if (asked > 1) return refuse("calls", `it is ${asked}, and tasks of ${id} take one completion: leave it 0`);
    if (tools.length > 0) return refuse("tools", `${id} has no tools: leave it empty`);
    return { kind: "ok", turns: {} };
  }
  const names = turns.tools.map(({ name }) => name);
  const unknown = tools.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const there = names.length === 0 ? `${id} has no tools` : `the tools of ${id} are: ${names.join(", ")}`;
    return refuse("tools", `there is no tool '${unknown.slice(0, 64)}'${didYouMean(unknown, names)}; ${there}`);
  }
  if (turns.needsTools === true && tools.length > 0 && tools.length < names.length)
    return refuse("tools", `tasks of ${id} need all of its tools: leave it empty`);
  if (turns.optional === true && asked <= 1) {
    if (tools.length === 0) return { kind: "ok", turns: {} };
    return refuse(
      "calls",
      `it is ${asked}, and each call of a tool counts, and the answer too: ask for at least 2 calls, or for no tools`,
    );
  }
  if (asked > turns.callsMax) return refuse("calls", `must be from 1 to ${turns.callsMax}; got ${asked}`);
  const calls = asked === 0 ? turns.calls : asked;
  if (tools.length === 0 && calls > (turns.answersMax ?? calls))
    return refuse(
      "calls",
      `it is ${calls}, and tasks of ${id} take ${turns.answersMax} answers: further calls need tools`,
    );
  const bytes = parameters === undefined ? 0 : episodeBytesMax(turns, parameters, calls);
  if (bytes > EPISODE_BYTES_MAX) {
    const why = `an episode of ${calls} calls takes up to ${bytes} bytes of the task_id, and the limit is ${EPISODE_BYTES_MAX}`;
    return refuse("calls", `${why}: ask for fewer calls or smaller parameters`);
  }
  const given = turns.needsTools === true ? names : tools;
  return {
    kind: "ok",
    turns: {
      calls,
      ...(given.length > 0 && { tools: given }),
      ...((detail === "verdict" || detail === "reason") && { detail }),
    },
  };
}
