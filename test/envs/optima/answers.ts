/** Answers to an instance, half of them near its optimum, as texts. */
import fc from "fast-check";
import type { Rng } from "../../../envs/lib/rng.ts";
import { mutated } from "../mutated.ts";
import { neighbourhoods } from "./neighbourhoods/index.ts";
import type { Neighbourhood } from "./neighbourhoods/neighbourhood.ts";
import type { Subject } from "./subject.ts";

/**
 * Kind of an answer. `optimum`: the solver's own answer, which comes first. `changed`: the optimum after one to three
 * moves. `walked`: the optimum after moves that each lead to a feasible answer. `random`: any answer of the right shape.
 * `climbed`: local search from an answer that takes no thought. `mutated`: the text of an optimum or climbed answer, with
 * numbers and signs changed, cut or repeated.
 */
export type Kind = "optimum" | "changed" | "walked" | "random" | "climbed" | "mutated";

/** Kinds of answers, taken in turn; half of them are neighbours of the optimum. */
const TURNS: readonly Exclude<Kind, "optimum">[] = [
  "changed",
  "random",
  "walked",
  "climbed",
  "changed",
  "random",
  "walked",
  "mutated",
];
/** Moves tried for each step of a walk, and in all for a climb. */
const STEP_TRIES = 20;
const CLIMB_TRIES = 200;
/** Texts that are drawn at once. */
const MUTATIONS = 16;

export interface Answered {
  readonly kind: Kind;
  readonly text: string;
}

interface Source extends Subject {
  readonly neighbourhood: Neighbourhood;
  readonly rng: Rng;
}

/**
 * Yields the optimum and `count` other answers to an instance; a stream of randomness in one state always gives equal
 * answers.
 */
export function* answersTo(subject: Subject, count: number, rng: Rng): Generator<Answered, void> {
  const { environment, optimum, format } = subject;
  const neighbourhood = neighbourhoods[environment.id];
  if (neighbourhood === undefined) throw new Error(`${environment.id} has no neighbourhood`);
  const source = { ...subject, neighbourhood, rng };
  const mutations = mutationsOf(source);
  yield { kind: "optimum", text: format(optimum) };
  for (let i = 0; i < count; i++) {
    const kind = TURNS[i % TURNS.length] as (typeof TURNS)[number];
    if (kind === "mutated") yield { kind, text: mutations.next().value };
    else yield { kind, text: format(answerOf(source, kind)) };
  }
}

function answerOf(source: Source, kind: Exclude<(typeof TURNS)[number], "mutated">): unknown {
  const { neighbourhood, instance, rng } = source;
  switch (kind) {
    case "changed":
      return afterMoves(source, (answer) => neighbourhood.move(instance, answer, rng));
    case "walked":
      return afterMoves(source, (answer) => walked(source, answer));
    case "random":
      return neighbourhood.random(instance, rng);
    case "climbed":
      return climbed(source);
  }
}

/** The optimum after one to three moves. */
function afterMoves({ optimum, rng }: Source, move: (answer: unknown) => unknown): unknown {
  let answer = optimum;
  for (let moves = rng.int(1, 3); moves > 0; moves--) answer = move(answer);
  return answer;
}

/** An answer's objective, larger for the better; undefined: it is infeasible. */
function worth({ environment, instance }: Source, answer: unknown): number | undefined {
  const facts = environment.verify(instance, answer);
  if (facts.kind !== "feasible" || facts.objective === undefined) return undefined;
  return environment.goal === "maximize" ? facts.objective : -facts.objective;
}

/** A feasible answer one move away; the same if none is met. */
function walked(source: Source, from: unknown): unknown {
  for (let tries = 0; tries < STEP_TRIES; tries++) {
    const answer = source.neighbourhood.move(source.instance, from, source.rng);
    if (worth(source, answer) !== undefined) return answer;
  }
  return from;
}

/** Moves that are no worse are taken, so that plateaus are crossed. */
function climbed(source: Source): unknown {
  const { neighbourhood, instance, rng } = source;
  let best = neighbourhood.start(instance, rng);
  let bestWorth = worth(source, best) ?? -Infinity;
  for (let tries = rng.int(0, CLIMB_TRIES); tries > 0; tries--) {
    const answer = neighbourhood.move(instance, best, rng);
    const found = worth(source, answer) ?? -Infinity;
    if (found < bestWorth || found === -Infinity) continue;
    [best, bestWorth] = [answer, found];
  }
  return best;
}

function* mutationsOf(source: Source): Generator<string, never> {
  const { optimum, format, rng } = source;
  for (;;) {
    const text = format(rng.int(0, 1) === 0 ? optimum : climbed(source));
    yield* fc.sample(mutated(text), { numRuns: MUTATIONS, seed: rng.int(0, 2 ** 31 - 1) });
  }
}
