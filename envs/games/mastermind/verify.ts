/** Compares a guess with the secret code, both for tasks with one answer and for each call of an episode. */
import { create } from "@bufbuild/protobuf";
import {
  type MastermindState,
  type MastermindStateSchema,
  MastermindStateSchema as schema,
} from "../../../proto/gen/gradus/internal/v1/game_states_pb.js";
import type { Facts } from "../../facts.ts";
import { parseDigits } from "../../lib/parse-lists.ts";
import type { Action, Advanced, Turns } from "../../turns/turns.ts";
import { type Code, faultOf, type MastermindInstance, marksOf } from "./code.ts";
import { worstCaseOf } from "./solve.ts";

export function baselineOf({ secret, colours }: MastermindInstance): number {
  return worstCaseOf(secret.length, colours);
}

/**
 * Returns the facts about a guess. The objective is the number of guesses so far, but at least what the best strategy
 * needs in its worst case, so that luck is not rewarded.
 */
function factsOf(instance: MastermindInstance, guess: Code, guesses: number): Facts {
  const { inPlace, elsewhere } = marksOf(instance.secret, guess);
  if (inPlace === instance.secret.length)
    return { kind: "feasible", objective: Math.max(guesses, baselineOf(instance)), info: { guesses: `${guesses}` } };
  return {
    kind: "infeasible",
    violation: `the code is another one: ${inPlace} in place, ${elsewhere} elsewhere`,
    info: { in_place: `${inPlace}`, elsewhere: `${elsewhere}` },
  };
}

export function verify(instance: MastermindInstance, guess: Code): Facts {
  const fault = faultOf(instance, guess);
  return fault === undefined ? factsOf(instance, guess, 1) : { kind: "infeasible", violation: fault };
}

type Guess = { readonly kind: "guess"; readonly guess: Code } | { readonly kind: "none"; readonly reason: string };

function guessOf(instance: MastermindInstance, action: Action): Guess {
  const code = action.kind === "tool" ? action.arguments["code"] : undefined;
  const parsed = action.kind === "answer" ? parseDigits(action.text) : undefined;
  if (parsed?.kind === "malformed") return { kind: "none", reason: `The guess cannot be read: ${parsed.reason}.` };
  const colours: unknown = parsed?.answer ?? code;
  if (!Array.isArray(colours)) return { kind: "none", reason: "The argument 'code' must be a list of colours." };
  const fault = faultOf(instance, colours);
  if (fault !== undefined) return { kind: "none", reason: `The guess is not a code: ${fault}.` };
  return { kind: "guess", guess: colours as Code };
}

function advance(instance: MastermindInstance, state: MastermindState, action: Action): Advanced<MastermindState> {
  const read = guessOf(instance, action);
  if (read.kind === "none") return { reply: read.reason, state };
  const { guess } = read;
  const places = instance.secret.length;
  const consistent = isConsistent(state.guesses, instance, guess) ? "" : " The guess contradicts earlier replies.";
  const guesses = new Uint8Array(state.guesses.length + places);
  guesses.set(state.guesses);
  guesses.set(guess, state.guesses.length);
  const next: MastermindState = { $typeName: "gradus.internal.v1.MastermindState", guesses };
  const facts = factsOf(instance, guess, action.number + 1);
  if (facts.kind === "feasible") return { reply: "This is the code.", state: next, over: true, facts };
  const { inPlace, elsewhere } = marksOf(instance.secret, guess);
  const reply = `${inPlace} of ${places} in place, ${elsewhere} more of the right colour elsewhere.${consistent}`;
  return { reply, state: next, facts };
}

/** Returns whether the guess could be the secret, given the replies to earlier guesses. */
function isConsistent(guesses: Uint8Array, { secret }: MastermindInstance, guess: Code): boolean {
  for (let at = 0; at < guesses.length; at += secret.length) {
    const was = marksOf(secret, guesses, at);
    const is = marksOf(guess, guesses, at);
    if (was.inPlace !== is.inPlace || was.elsewhere !== is.elsewhere) return false;
  }
  return true;
}

/** Maximum size of an encoded state without its guesses, in bytes: a tag and a length. */
const STATE_BYTES = 4;

export const turns: Turns<MastermindInstance, typeof MastermindStateSchema> = {
  calls: 10,
  callsMax: 64,
  tools: [
    {
      name: "guess",
      description: "Compares a guess with the secret code. Says how many colours are in place, and how many elsewhere.",
      parameters: {
        type: "object",
        properties: {
          code: { type: "array", items: { type: "integer" }, description: "A colour for each place, as its number." },
        },
        required: ["code"],
      },
    },
  ],
  actionBytesMax: 256,
  schema,
  stateBytesMax: ({ places = 0 }, calls) => STATE_BYTES + places * calls,
  start: () => create(schema),
  advance,
};
