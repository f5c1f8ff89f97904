/** An environment with turns for tests: add numbers to a total until it is the target. The size of states is chosen. */
import { create } from "@bufbuild/protobuf";
import { defineEnvironment } from "../../../envs/define.ts";
import type { SyncEnvironment } from "../../../envs/environment.ts";
import { resolveScheme } from "../../../envs/reward/schemes.ts";
import type { EpisodeTask } from "../../../envs/turns/episode.ts";
import type { Turns } from "../../../envs/turns/turns.ts";
import { MastermindStateSchema as schema } from "../../../proto/gen/gradus/internal/v1/game_states_pb.js";

export interface Counter {
  readonly target: number;
  /** Size of each state, in bytes. The first one holds the total. */
  readonly bytes: number;
}

/** Returns the environment, its turns, and the numbers of the calls that were carried out. */
export function counterOf(bytes: number): {
  environment: SyncEnvironment<Counter, number>;
  turns: Turns<Counter, typeof schema>;
  made: number[];
} {
  const made: number[] = [];
  const turns: Turns<Counter, typeof schema> = {
    calls: 8,
    callsMax: 1000,
    tools: [
      { name: "add", description: "Adds a number.", parameters: { type: "object" } },
      { name: "jump", description: "Adds a random number.", parameters: { type: "object" } },
      { name: "secret", description: "Is not given to the policy.", parameters: { type: "object" } },
    ],
    actionBytesMax: 64,
    schema,
    stateBytesMax: () => bytes + 4,
    start: () => create(schema, { guesses: new Uint8Array(bytes) }),
    advance({ target }, state, action, rng) {
      made.push(action.number);
      const given =
        action.kind === "answer"
          ? Number(action.text)
          : action.name === "jump"
            ? rng.int(1, 9)
            : action.arguments["by"];
      if (typeof given !== "number" || !Number.isInteger(given)) return { reply: "That is no whole number.", state };
      const total = ((state.guesses[0] ?? 0) + given) & 0xff;
      const guesses = Uint8Array.from(state.guesses);
      guesses[0] = total;
      // Every byte changes, so that no encoding of a state is short.
      for (let i = 1; i < guesses.length; i++) guesses[i] = (i * 31 + total) & 0xff;
      const over = total === target;
      const facts = over
        ? ({ kind: "feasible" } as const)
        : ({ kind: "infeasible", violation: `${total} is not ${target}` } as const);
      return {
        reply: `The total is ${total}.`,
        state: create(schema, { guesses }),
        over,
        ...(total % 3 > 0 && { facts }),
      };
    },
  };
  const environment = defineEnvironment<Counter, number>({
    id: "test/counter",
    version: 1,
    description: "Add numbers to a total until it is the target.",
    render: ({ target }) => [{ role: "user", content: `Reach ${target}.` }],
    parse: (text) =>
      /^\d{1,3}$/.test(text) ? { kind: "answer", answer: Number(text) } : { kind: "malformed", reason: text },
    verify: ({ target }, answer) =>
      answer === target ? { kind: "feasible" } : { kind: "infeasible", violation: "another number" },
    turns,
  });
  return { environment, turns, made };
}

export function taskOf(
  environment: SyncEnvironment<Counter, number>,
  over: Partial<EpisodeTask> = {},
  scheme = "last",
): EpisodeTask {
  const resolved = resolveScheme(environment, scheme, { discount: 0.9 });
  if (resolved.kind === "invalid") throw new Error(resolved.message);
  return {
    environment: environment,
    instance: { target: 100, bytes: 8 },
    format: "answer_line",
    thinking: "stripped",
    scheme: resolved.scheme,
    calls: 12,
    tools: ["add", "jump"],
    seed: ["hash", "sample", 3],
    ...over,
  };
}
