/** Laws of tasks with turns, at every level: whatever a policy calls, it gets a reply, and the next id is short. */
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { expect } from "vitest";
import type { SyncEnvironment } from "../../../envs/environment.ts";
import { type Rng, rngFor } from "../../../envs/lib/rng.ts";
import { resolveScheme } from "../../../envs/reward/schemes.ts";
import { type EpisodeTask, play, type Played } from "../../../envs/turns/episode.ts";
import type { ToolCall } from "../../../envs/turns/read-calls.ts";
import { type Action, type Episode, episodeBytesMax, type Reply, type Turns } from "../../../envs/turns/turns.ts";
import { EpisodeSchema } from "../../../proto/gen/gradus/internal/v1/task_key_pb.js";
import { episodeFromWire, episodeToWire } from "../../../server/tasks/encode-episode.ts";
import { EPISODE_BYTES_MAX } from "../../../server/tasks/task-id.ts";
import { type Law, solved, type Subject } from "./law.ts";

/** Calls that a law makes of each task, and calls that it splits over messages. */
const CALLS = 24;
const SPLIT_CALLS = 6;

const TEXTS = [
  "",
  "0",
  "1 2 3",
  "[1, 2, 3]",
  "[1, 1, 1, 1]",
  "1e400",
  "-1",
  "x".repeat(200),
  "\u0000\ud800",
  "{}",
  "[[1]]",
  ...["north", "east", "south", "west", "north, east"],
];
const VALUES: readonly unknown[] = [
  null,
  true,
  -1,
  0.5,
  2 ** 53,
  "x",
  [],
  {},
  [1, 2, 3],
  [1, 1, 1, 1],
  [[1]],
  ["1", "2", "3"],
  ...["north", "east", "south", "west"],
];

/** Returns the turns of an environment, without the tools that ask a resource. No other call may ask it. */
function turnsOf({ turns }: SyncEnvironment): Turns<unknown> {
  if (turns === undefined) throw new Error("the environment has no turns");
  if (turns.resource === undefined) return turns;
  const { resource: _, askingTools, tools, ...rest } = turns;
  if (askingTools === undefined) throw new Error("every call of the environment may ask a resource");
  return {
    ...rest,
    tools: tools.filter(({ name }) => !askingTools.includes(name)),
    advance(...call) {
      const result = turns.advance(...call);
      if ("ask" in result) throw new Error("a call asks a resource, and not by a tool that is said to ask");
      return result;
    },
  };
}

/** Returns a call: of a tool with its own or wrong arguments, or an answer in digits or no answer at all. */
function anyAction({ tools }: Turns<unknown>, number: number, rng: Rng): Action {
  const digits = Array.from({ length: rng.int(2, 5) }, () => rng.int(1, 6));
  const tool = tools.length === 0 ? undefined : rng.pick(tools);
  if (tool === undefined || rng.int(0, 1) === 0) {
    const text = rng.int(0, 2) > 0 ? `[${digits.join(", ")}]` : rng.pick(TEXTS);
    return { kind: "answer", number, text };
  }
  const names = Object.keys(tool.parameters["properties"] ?? {});
  const valueOf = (): unknown => (rng.int(0, 2) > 0 ? digits : rng.pick(VALUES));
  const given = names.filter(() => rng.int(0, 5) > 0).map((name) => [name, valueOf()] as const);
  return { kind: "tool", number, name: tool.name, arguments: Object.fromEntries(given) };
}

type Called = (called: {
  readonly action: Action;
  readonly reply: string;
  readonly over: boolean;
  readonly bytes: number;
}) => void;

/** Plays each task by random calls. Episodes that end begin again. */
function playEach({ environment, tasks }: Subject, tell: Called): string {
  const turns = turnsOf(environment);
  const log: unknown[] = [];
  for (const { instance, hash } of tasks) {
    const rng = rngFor("turn laws", hash);
    let state = turns.start(instance);
    for (let number = 0; number < CALLS; number++) {
      const action = anyAction(turns, number, rng);
      const {
        reply,
        state: next,
        over = false,
        facts,
      } = turns.advance(instance, state, action, rngFor("call", number));
      const bytes = toBinary(turns.schema, next);
      tell({ action, reply, over, bytes: bytes.length });
      log.push([reply, over, facts, [...bytes]]);
      // The state goes through its encoding, as in a task id.
      state = over ? turns.start(instance) : fromBinary(turns.schema, bytes);
    }
  }
  return JSON.stringify(log);
}

/** Returns calls of tools as a policy writes them. */
function toolCallsOf(turns: Turns<unknown>, rng: Rng): readonly ToolCall[] {
  return Array.from({ length: SPLIT_CALLS }, (_, number): ToolCall => {
    let action = anyAction(turns, number, rng);
    while (action.kind === "answer") action = anyAction(turns, number, rng);
    return { id: `${number}`, name: action.name, argumentsJson: JSON.stringify(action.arguments) };
  });
}

/** Plays messages of calls, and returns the last result and all replies. Each episode goes through its encoding. */
function playMessages(task: EpisodeTask, messages: readonly (readonly ToolCall[])[]) {
  const replies: Reply[] = [];
  let begun: Episode | undefined;
  let last: Played | undefined;
  for (const toolCalls of messages) {
    last = play(task, begun, { text: "", toolCalls, isHermes: false, isCut: false, ends: false });
    if (last.kind === "over") return { last, replies: [] };
    replies.push(...last.messages);
    begun = episodeFromWire(
      fromBinary(EpisodeSchema, toBinary(EpisodeSchema, episodeToWire({ ...last.episode, sample: {} }))),
    );
  }
  return { last: { ...last, messages: [], reward: 0, episode: begun }, replies };
}

const hasTurns: Law["appliesTo"] = ({ turns }) => turns !== undefined;

export const turnLaws: readonly Law[] = [
  {
    title: "equal calls get equal replies, and none throws or is silent",
    appliesTo: hasTurns,
    check(subject) {
      const reads = playEach(subject, ({ reply }) => expect(reply.trim()).not.toBe(""));
      expect(playEach(subject, () => undefined)).toBe(reads);
    },
  },
  {
    title: "a state is never longer than its bound, and by default an id is never too long",
    appliesTo: hasTurns,
    check(subject) {
      const { environment, level } = subject;
      const turns = turnsOf(environment);
      const most = turns.stateBytesMax(level.parameters, CALLS);
      playEach(subject, ({ bytes }) => expect(bytes).toBeLessThanOrEqual(most));
      expect(episodeBytesMax(turns, level.parameters, turns.calls)).toBeLessThanOrEqual(EPISODE_BYTES_MAX);
      expect(turns.calls).toBeLessThanOrEqual(turns.callsMax);
    },
  },
  {
    title: "calls in one message lead to where they lead one by one",
    appliesTo: (environment) => hasTurns(environment) && turnsOf(environment as SyncEnvironment).tools.length > 0,
    check({ environment, tasks }) {
      const turns = turnsOf(environment);
      const scheme = resolveScheme(environment, "sum", { discount: 0.9 }, true);
      if (scheme.kind === "invalid") throw new Error(scheme.message);
      for (const { instance, hash, baseline } of tasks) {
        const tools = turns.tools.map(({ name }) => name);
        const task: EpisodeTask = {
          environment: { ...environment, turns },
          instance,
          format: "answer_tag",
          thinking: "stripped",
          scheme: scheme.scheme,
          calls: turns.callsMax,
          tools,
          seed: [hash],
          ...(baseline && { baseline }),
        };
        const calls = toolCallsOf(turns, rngFor("split calls", hash));
        const apart = playMessages(
          task,
          calls.map((call) => [call]),
        );
        expect(playMessages(task, [calls])).toEqual(apart);
        expect(playMessages(task, [calls.slice(0, 2), calls.slice(2)])).toEqual(apart);
      }
    },
  },
  {
    title: "no reply holds the answer before it was given",
    appliesTo: ({ turns, solver }) => turns !== undefined && solver !== undefined,
    check(subject) {
      const texts = subject.tasks.map((issued) => solved(subject.environment, issued).text);
      playEach(subject, ({ reply, over }) => {
        if (!over) for (const text of texts) expect(reply).not.toContain(text);
      });
    },
  },
];
