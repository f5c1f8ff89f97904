/**
 * Gives several tries to tasks that take one answer. Each answer gets a reply that says what is wrong with it, until an
 * answer is the best possible.
 */
import { create } from "@bufbuild/protobuf";
import {
  type TriesState,
  type TriesStateSchema,
  TriesStateSchema as schema,
} from "../../proto/gen/gradus/internal/v1/game_states_pb.js";
import type { Facts, Failed, Findings, GradedFacts, Parsed } from "../facts.ts";
import { assertNever } from "../lib/assert-never.ts";
import type { Resource, VerifyContext } from "../resource.ts";
import type { Advanced, AnyTurns, AskingTurns, KnownBest, Question, ReplyDetail, Tool, Turns } from "./turns.ts";

/** Settings of tasks with several tries. */
export interface Tries {
  /**
   * Tools that a task may be given. Their results do not count as answers. Their order must never change, because task
   * ids hold a tool's position. Defaults to none.
   */
  readonly tools?: readonly TryTool[];
  /**
   * Maximum number of readable answers; the last one ends the episode. Meant for tasks whose answers are right or
   * wrong: with enough answers, a policy finds the right one by trying. Defaults to the number of calls.
   */
  readonly answersMax?: number;
  /**
   * Set if the verifier's facts come from another process (a mounted provider), so that their texts may hold the right
   * answer. Replies then omit these texts. Defaults to false.
   */
  readonly quiet?: true;
  /** Returns the reply to a graded answer that does not solve the task. The reply must not reveal the right answer. */
  readonly wrong?: (facts: GradedFacts) => string;
}

/** Tool whose result depends only on its arguments, and not on the task. */
export interface TryTool extends Tool {
  /** Resource (external service) that the tool's calls ask. Unset: none. */
  readonly resource?: Resource;
  /**
   * Returns the tool's result, an error text about the arguments, or a function that asks the resource for the result.
   * Pure, and never throws. The function returns Failed only for a fault of the server or of the resource.
   */
  reply(given: Readonly<Record<string, unknown>>): string | ((context: VerifyContext) => Promise<string | Failed>);
}

interface TriedParts<Instance, Answer> {
  readonly goal?: "satisfy" | "minimize" | "maximize";
  parse(text: string, instance: Instance): Parsed<Answer>;
}

/** Environment whose tasks take one answer. */
type Tried<Instance, Answer> = TriedParts<Instance, Answer> &
  (
    | { readonly resource?: undefined; verify(instance: Instance, answer: Answer): Facts }
    | {
        readonly resource: Resource;
        verify(instance: Instance, answer: Answer, context: VerifyContext): Promise<Findings | Failed>;
      }
  );

const CALLS_MAX = 16;
const ANSWER_BYTES_MAX = 64 * 1024;
/** Maximum size of a state that counts answers, in bytes. */
const COUNT_BYTES = 2;

type Called = Advanced<TriesState> | Question<TriesState>;

/**
 * Returns turns in which each call is an answer or a tool call, for an environment whose tasks take one answer. A task
 * has several turns only if its request asks for more than one call.
 */
export function severalTries<Instance, Answer>(
  tried: Tried<Instance, Answer>,
  { tools = [], answersMax, quiet, wrong }: Tries,
): AnyTurns<Instance> {
  const replied = (state: TriesState, found: Findings, how: Comparing): Advanced<TriesState> => {
    const why = found.kind === "malformed" && quiet !== true ? `: ${found.reason}` : "";
    if (found.kind === "malformed") return { reply: `The answer cannot be read${why}.`, state };
    const next = answersMax === undefined ? state : create(schema, { answers: state.answers + 1 });
    const { reply, over = next.answers === answersMax } = replyTo(found, { ...how, quiet }, wrong);
    return { reply, over, state: next, facts: found };
  };
  const answered = (instance: Instance, state: TriesState, text: string, how: Comparing): Called => {
    const parsed = tried.parse(text, instance);
    if (parsed.kind === "malformed") return replied(state, parsed, how);
    const { answer } = parsed;
    if (tried.resource === undefined) return replied(state, tried.verify(instance, answer), how);
    const ask = async (context: VerifyContext) => {
      const found = await tried.verify(instance, answer, context);
      return found.kind === "failed" ? found : replied(state, found, how);
    };
    return { ask };
  };
  const asking = tools.filter(({ resource }) => resource !== undefined);
  const resource = tried.resource ?? asking[0]?.resource;
  const turns: Omit<AskingTurns<Instance, typeof TriesStateSchema>, "resource"> = {
    optional: true,
    calls: 1,
    callsMax: CALLS_MAX,
    ...(answersMax !== undefined && { answersMax }),
    ...(tried.resource === undefined && { askingTools: asking.map(({ name }) => name) }),
    tools,
    actionBytesMax: ANSWER_BYTES_MAX,
    schema,
    stateBytesMax: () => (answersMax === undefined ? 0 : COUNT_BYTES),
    start: () => create(schema),
    advance(instance, state, action, _rng, best, detail = "distance") {
      if (action.kind === "answer") return answered(instance, state, action.text, { best, detail, goal: tried.goal });
      const tool = tools.find(({ name }) => name === action.name);
      return toolResult(tool?.reply(action.arguments) ?? "There is no such tool.", state);
    },
  };
  return resource === undefined ? (turns as Turns<Instance>) : { ...turns, resource };
}

function toolResult(result: ReturnType<TryTool["reply"]>, state: TriesState): Called {
  if (typeof result === "string") return { reply: result, state };
  const ask = async (context: VerifyContext) => {
    const reply = await result(context);
    return typeof reply === "string" ? { reply, state } : reply;
  };
  return { ask };
}

/** Best known answer of the task, and how much a reply says about the distance from it. */
interface Comparing {
  readonly goal: TriedParts<never, never>["goal"];
  readonly best: KnownBest | undefined;
  readonly detail: ReplyDetail;
  readonly quiet?: true | undefined;
}

interface TryReply {
  readonly reply: string;
  /** True if no better answer exists, which ends the episode. Unset if this is not known. */
  readonly over?: true;
}

const WRONG = "The answer is wrong.";

function replyTo(facts: Facts, { goal, best, detail, quiet }: Comparing, wrong: Tries["wrong"]): TryReply {
  switch (facts.kind) {
    case "infeasible":
      return { reply: detail === "verdict" || quiet === true ? WRONG : `The answer is wrong: ${facts.violation}.` };
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
