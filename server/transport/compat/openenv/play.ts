/** Plays the episodes of one OpenEnv session, by calls of Gradus's own services. */
import { randomBytes } from "node:crypto";
import { create, type JsonObject, toJson } from "@bufbuild/protobuf";
import {
  type Environment,
  FinishReason,
  GetEnvironmentRequestSchema,
} from "../../../../proto/gen/gradus/v1/environment_pb.js";
import { TurnSchema } from "../../../../proto/gen/gradus/v1/outcome_pb.js";
import type { Tool } from "../../../../proto/gen/gradus/v1/task_pb.js";
import { RpcError } from "../../../base/rpc.ts";
import { advance, begin, type Context, type Episode, type Handlers, shown, type Written } from "../episode.ts";
import { choiceOf, invalid, isObject } from "../read-task-choice.ts";
import type { Kind } from "./message.ts";
import { taskOfSplit } from "./tasks.ts";

/** Maximum number of runs whose cursor a session remembers. Beyond it, the session forgets the oldest. */
const RUNS_MAX = 64;

export interface Observed {
  readonly type: "observation";
  readonly data: {
    readonly observation: JsonObject;
    readonly reward: number | null;
    readonly done: boolean;
    /** Facts for the trainer. They are kept out of the observation, because clients show all of it to the policy. */
    readonly metadata?: JsonObject;
  };
}

export type Reply = Observed | { readonly type: "state" | "error"; readonly data: JsonObject };

/** Answers the messages of one session, one at a time. */
export type Player = Readonly<
  Record<Exclude<Kind, "state">, (data: JsonObject, context: Context) => Promise<Observed>>
> &
  Readonly<Record<"state", (data: JsonObject, context: Context) => Promise<Reply>>>;

interface PlayerOptions {
  /** Default environment of resets, taken from the address. Undefined: each reset must name an environment or a run. */
  readonly environment: string | undefined;
  /** Whether a task with turns gets all tools of its environment if the client names no tools. */
  readonly withTools: boolean;
}

export async function environmentOf(handlers: Handlers, id: string, context: Context): Promise<Environment> {
  const { environment } = await handlers.getEnvironment(create(GetEnvironmentRequestSchema, { id }), context);
  if (environment === undefined) throw new Error("bug: GetEnvironment answered without an environment");
  return environment;
}

/** Creates the functions that answer the messages of one session. */
export function createPlayer(handlers: Handlers, { environment, withTools }: PlayerOptions): Player {
  let episode: Episode | undefined;
  let isOver = false;
  let steps = 0;
  let id: string | null = null;
  const cursors = new Map<string, bigint>();
  const defaults = {
    seed: () => randomBytes(8).readBigUInt64BE(),
    cursorOf: (run: string) => cursors.get(run),
  };
  const goOn = ({ run, cursor }: NonNullable<Episode["next"]>): void => {
    cursors.delete(run);
    cursors.set(run, cursor);
    const [oldest] = cursors.keys();
    if (cursors.size > RUNS_MAX && oldest !== undefined) cursors.delete(oldest);
  };
  /**
   * Adds to a reset the fields that the client left out: the environment of its address, and the environment's tools.
   * Replaces the fields of the Task API by the level, the split and the seed.
   */
  const chosen = async (data: JsonObject, context: Context): Promise<JsonObject> => {
    if ((data["run"] ?? null) !== null) return data;
    const named = taskOfSplit({ ...(environment !== undefined && { environment }), ...data });
    const { environment: of, tools } = named;
    if (!withTools || tools !== undefined || typeof of !== "string") return named;
    const { calls, tools: all } = await environmentOf(handlers, of, context);
    return calls === 0 ? named : { ...named, tools: all.map(({ name }) => name) };
  };
  const play = async (written: Written, context: Context, tool?: string): Promise<Observed> => {
    if (episode === undefined || isOver)
      throw new RpcError("FAILED_PRECONDITION", "no episode is open: send a reset first (the last one may be over)");
    if (tool !== undefined && episode.task.callsMax === 0)
      throw new RpcError("FAILED_PRECONDITION", "the task has no tools: send its completion as a step");
    const moved = await advance(handlers, episode, written, context).catch((error: unknown) => {
      throw isInvalid(error) ? new RpcError("FAILED_PRECONDITION", error.message) : error;
    });
    steps++;
    isOver = moved.kind === "over";
    if (moved.kind === "over") {
      const { reward, outcome } = moved.stepped;
      const observation = { ...(tool !== undefined && resultOf(tool, "The episode is over.")), outcome };
      return { type: "observation", data: { observation, reward, done: true } };
    }
    ({ episode } = moved);
    const text = moved.turn.messages.map(({ content }) => content).join("\n\n");
    const metadata = toJson(TurnSchema, moved.turn, { useProtoFieldName: true }) as JsonObject;
    return goesOn(tool === undefined ? { prompt: text } : resultOf(tool, text), metadata);
  };
  return inOrder({
    async reset(data, context) {
      const begun = await begin(handlers, choiceOf(await chosen(data, context), defaults), context);
      [episode, isOver, steps] = [begun, false, 0];
      id = typeof data["episode_id"] === "string" ? data["episode_id"].slice(0, 256) : begun.task.groupId;
      if (begun.next !== undefined) goOn(begun.next);
      const { prompt = "", ...metadata } = shown(begun);
      return goesOn({ prompt }, metadata);
    },
    step: (data, context) => play(writtenIn(data), context),
    async list_tools(_, context) {
      const inEnvironment =
        environment === undefined ? [] : (await environmentOf(handlers, environment, context)).tools;
      return goesOn({ tools: (episode?.task.tools ?? inEnvironment).map(toolShown) });
    },
    call_tool(data, context) {
      const [name, argumentsJson] = [data["tool_name"] as string, data["arguments_json"] as string];
      const toolCalls = [{ name, argumentsJson }];
      return play({ completion: "", finishReason: FinishReason.UNSPECIFIED, toolCalls }, context, name);
    },
    state() {
      const task = episode === undefined ? {} : shown(episode);
      return Promise.resolve({ type: "state", data: { episode_id: id, step_count: steps, ...task } });
    },
  });
}

/**
 * Returns the observation after a message that does not end the episode, with a null reward. At the end of an episode,
 * a missing reward is sent as an error and never as null.
 */
function goesOn(observation: JsonObject, metadata?: JsonObject): Observed {
  const more = metadata === undefined ? {} : { metadata };
  return { type: "observation", data: { observation, reward: null, done: false, ...more } };
}

/**
 * Returns whether a service refused a request as invalid. Clients take a VALIDATION_ERROR of a step for a fault of the
 * policy, and score the episode as 0. So only actions that cannot be read have this code.
 */
const isInvalid = (error: unknown): error is RpcError => error instanceof RpcError && error.code === "INVALID_ARGUMENT";

const resultOf = (tool: string, result: string): JsonObject => ({ tool_name: tool, result });

const toolShown = ({ name, description, parametersJson }: Tool): JsonObject => ({
  name,
  description,
  inputSchema: JSON.parse(parametersJson) as JsonObject,
});

/** Makes each message wait until the one before it is answered, because several may come at once over /mcp. */
function inOrder(player: Player): Player {
  let last: Promise<unknown> = Promise.resolve();
  const wrapped = Object.entries(player).map(([kind, answer]) => {
    const later = (data: JsonObject, context: Context): Promise<Reply> => {
      const reply = last.then(() => answer(data, context));
      last = reply.catch(() => undefined);
      return reply;
    };
    return [kind, later] as const;
  });
  return Object.fromEntries(wrapped) as unknown as Player;
}

/** Names that the field with the completion may have in a client's action. The first one is Gradus's own. */
export const TEXTS = ["completion", "message", "text"] as const;

/** Values of OpenAI's finish_reason, and the corresponding value in Gradus's messages. */
const REASONS = new Map<unknown, FinishReason>([
  [undefined, FinishReason.UNSPECIFIED],
  [null, FinishReason.UNSPECIFIED],
  ["stop", FinishReason.STOP],
  ["length", FinishReason.LENGTH],
]);

/** Reads an action. Throws RpcError if it is invalid. */
export function writtenIn(data: JsonObject): Written {
  const end = data["end"] === true;
  const completion = completionIn(data, end);
  const finishReason = REASONS.get(data["finish_reason"]);
  if (finishReason === undefined) throw invalid("finish_reason", 'must be "stop" or "length", or be left out');
  return { completion, finishReason, end };
}

/** Returns the completion of an action. It may be missing if the action ends the episode. */
function completionIn(data: JsonObject, mayBeMissing: boolean): string {
  const given = TEXTS.filter((name) => data[name] !== undefined);
  const [name] = given;
  if (name === undefined && mayBeMissing) return "";
  if (name === undefined || given.length > 1)
    throw invalid("completion", `an action has one text, as ${TEXTS.map((each) => `"${each}"`).join(" or ")}`);
  const text = data[name];
  if (isObject(text)) throw invalid(name, "it must be a string");
  // Clients read a policy's reply as JSON if they can, e.g. "5" as a number.
  return typeof text === "string" ? text : JSON.stringify(text);
}
