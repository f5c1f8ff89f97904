/** Several tries at a task of one answer. Each answer gets a reply that says what is wrong with it, until one is best. */
import { create } from "@bufbuild/protobuf";
import {
  type TriesState,
  type TriesStateSchema,
  TriesStateSchema as schema,
} from "../../proto/gen/gradus/internal/v1/game_states_pb.js";
import type { Facts, GradedFacts, Parsed } from "../facts.ts";
import { assertNever } from "../lib/assert-never.ts";
import type { Action, Advanced, KnownBest, ReplyDetail, Tool, Turns } from "./turns.ts";

/** Settings of several tries. */
export interface Tries {
  /** Tools that a task may be given. Their results are no answers. Defaults to none. */
  readonly tools?: readonly PlainTool[];
  /**
   * Maximum number of answers that can be read; the last one ends the episode. For answers that are right or wrong,
   * because every reply excludes one. Defaults to the number of calls.
   */
  readonly answersMax?: number;
  /** Returns the reply to a wrong answer that was graded. It must not show the right one. */
  wrong?(facts: GradedFacts): string;
}

/** Tool whose result depends on its arguments alone. */
export interface PlainTool extends Tool {
  /** Returns the result, or what is wrong with the arguments. Pure, and never throws. */
  reply(given: Readonly<Record<string, unknown>>): string;
}

/** Environment whose tasks take one answer. */
interface Tried<Instance, Answer> {
  readonly goal?: "satisfy" | "minimize" | "maximize";
  parse(text: string, instance: Instance): Parsed<Answer>;
  verify(instance: Instance, answer: Answer): Facts;
}

const CALLS_MAX = 16;
const ANSWER_BYTES_MAX = 64 * 1024;
/** Maximum size of a state that counts answers, in bytes. */
const COUNT_BYTES = 2;

/** Returns turns in which a call is an answer or a call of a tool. Tasks have them only if they ask for several calls. */
export function severalTries<Instance, Answer>(
  tried: Tried<Instance, Answer>,
  { tools = [], answersMax, wrong }: Tries,
): Turns<Instance, typeof TriesStateSchema> {
  const isLast = ({ answers }: TriesState): boolean => answers === answersMax;
  const answered = (instance: Instance, state: TriesState, text: string, how: Comparing): Advanced<TriesState> => {
    const parsed = tried.parse(text, instance);
    if (parsed.kind === "malformed") return { reply: `The answer cannot be read: ${parsed.reason}.`, state };
    const facts = tried.verify(instance, parsed.answer);
    const next = answersMax === undefined ? state : create(schema, { answers: state.answers + 1 });
    const { reply, over = isLast(next) } = replyTo(facts, how, wrong);
    return { reply, over, state: next, facts };
  };
  return {
    optional: true,
    calls: 1,
    callsMax: CALLS_MAX,
    ...(answersMax !== undefined && { answersMax }),
    tools,
    actionBytesMax: ANSWER_BYTES_MAX,
    schema,
    stateBytesMax: () => (answersMax === undefined ? 0 : COUNT_BYTES),
    start: () => create(schema),
    advance(instance, state, action, _rng, best, detail = "distance") {
      if (action.kind === "answer") return answered(instance, state, action.text, { best, detail, goal: tried.goal });
      return { reply: toolOf(tools, action)?.reply(action.arguments) ?? NO_TOOL, state };
    },
  };
}

const NO_TOOL = "There is no such tool.";

function toolOf(tools: readonly PlainTool[], { name }: Extract<Action, { kind: "tool" }>): PlainTool | undefined {
  return tools.find((tool) => tool.name === name);
}

/** Best known answer, and how much replies say about the distance from it. */
interface Comparing {
  readonly goal: Tried<never, never>["goal"];
  readonly best: KnownBest | undefined;
  readonly detail: ReplyDetail;
}

interface TryReply {
  readonly reply: string;
  /** True if there is no better answer. Unset: it is not known. */
  readonly over?: true;
}

const WRONG = "The answer is wrong.";

function replyTo(facts: Facts, { goal, best, detail }: Comparing, wrong: Tries["wrong"]): TryReply {
  switch (facts.kind) {
    case "infeasible":
      return { reply: detail === "verdict" ? WRONG : `The answer is wrong: ${facts.violation}.` };
    case "graded":
      if (facts.solved) return { reply: "The answer is right.", over: true };
      return { reply: detail === "verdict" || wrong === undefined ? WRONG : wrong(facts) };
    case "feasible": {
      const { objective } = facts;
      if (objective === undefined || best === undefined || goal === undefined || goal === "satisfy")
        return { reply: "The answer is right.", over: true };
      if (objective === best.bound) return { reply: "The answer is feasible and the best possible.", over: true };
      if (detail !== "distance") return { reply: "The answer is feasible." };
      return { reply: `The answer is feasible: its objective is ${distanceTo(objective, best.value)} the best known.` };
    }
    default:
      return assertNever(facts);
  }
}

/** Returns how far an objective is from the best known one, in words, e.g. "12% above". */
function distanceTo(objective: number, best: number): string {
  if (objective === best) return "equal to";
  const side = objective > best ? "above" : "below";
  if (best === 0) return side;
  const percent = (100 * Math.abs(objective - best)) / Math.abs(best);
  return `${percent < 1 ? "less than 1" : Math.round(percent)}% ${side}`;
}
