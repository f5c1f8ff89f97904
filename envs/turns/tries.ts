/**
 * Lets a policy try a task several times whose solution is one answer. Each answer gets a reply that says what is wrong
 * with it, until one is the best possible.
 */
import { create } from "@bufbuild/protobuf";
import { TriesStateSchema as schema } from "../../proto/gen/gradus/internal/v1/game_states_pb.js";
import type { Facts, Parsed } from "../facts.ts";
import { assertNever } from "../lib/assert-never.ts";
import type { KnownBest, Turns } from "./turns.ts";

/** The parts of an environment with one answer per task that several tries need. */
interface Tried<Instance, Answer> {
  readonly goal?: "satisfy" | "minimize" | "maximize";
  parse(text: string, instance: Instance): Parsed<Answer>;
  verify(instance: Instance, answer: Answer): Facts;
}

const CALLS_MAX = 16;
const ANSWER_BYTES_MAX = 64 * 1024;

/**
 * Makes a task with one answer playable in several turns: each call is an answer. A task has turns only if it is
 * requested with more than one call.
 */
export function severalTries<Instance, Answer>(tried: Tried<Instance, Answer>): Turns<Instance, typeof schema> {
  return {
    optional: true,
    calls: 1,
    callsMax: CALLS_MAX,
    tools: [],
    actionBytesMax: ANSWER_BYTES_MAX,
    schema,
    stateBytesMax: () => 0,
    start: () => create(schema),
    advance(instance, state, action, _rng, best) {
      const parsed = tried.parse(action.kind === "answer" ? action.text : "", instance);
      if (parsed.kind === "malformed") return { reply: `The answer cannot be read: ${parsed.reason}.`, state };
      const facts = tried.verify(instance, parsed.answer);
      return { ...replyTo(facts, best, tried.goal), state, facts };
    },
  };
}

function replyTo(facts: Facts, best: KnownBest | undefined, goal: Tried<never, never>["goal"]) {
  switch (facts.kind) {
    case "infeasible":
      return { reply: `The answer is wrong: ${facts.violation}.` };
    case "graded":
      return facts.solved ? { reply: "The answer is right.", over: true } : { reply: "The answer is wrong." };
    case "feasible": {
      const { objective } = facts;
      if (objective === undefined || best === undefined || goal === undefined || goal === "satisfy")
        return { reply: "The answer is right.", over: true };
      if (objective === best.bound) return { reply: "The answer is feasible and the best possible.", over: true };
      return { reply: `The answer is feasible: its objective is ${distanceTo(objective, best.value)} the best known.` };
    }
    default:
      return assertNever(facts);
  }
}

/** Compares an objective value with the best known one, in words, e.g. "12% above". */
function distanceTo(objective: number, best: number): string {
  if (objective === best) return "equal to";
  const side = objective > best ? "above" : "below";
  if (best === 0) return side;
  const percent = (100 * Math.abs(objective - best)) / Math.abs(best);
  return `${percent < 1 ? "less than 1" : Math.round(percent)}% ${side}`;
}
