/**
 * Plays an episode of a mounted environment with turns, and checks the results by the rules of provider.proto. Equal
 * calls must give equal results, one at a time or several in a request. States must keep within their maximum size. No
 * call may make the environment fail.
 */
import { onOneLine } from "../../../envs/lib/escape.ts";
import { isRight } from "./read-facts.ts";
import { type Instances, NAMES, namesOfOthers, NONSENSE, type Subject, worthOfFacts } from "./call-rules.ts";
import { exampleOf } from "./example-arguments.ts";
import { ON_TURN, type Terms } from "./message-rules.ts";
import type { AdvanceResult, SentCall } from "./provider.ts";
import type { DescribedTurns } from "./read-description.ts";
import { type Breach, each, firstOf, type Rule, rule } from "./rules.ts";

/** Maximum number of calls that an examination makes in one episode. */
const CALLS_MAX = 24;
/** Texts that may confuse an environment, sent as answers during an examination. The environment must reply to each. */
const HOSTILE = ["nan", "\u0000", "9**9", "[]"];

/** A call of an episode, the state before the call, and the provider's result. */
interface Made {
  readonly call: SentCall;
  readonly state: Uint8Array | undefined;
  readonly result: AdvanceResult;
}

/** Evidence of an episode that the rules below judge. */
export interface Advancing {
  readonly terms: Terms & { readonly stateBytesMax: number };
  readonly isDeterministic: boolean;
  readonly made: readonly Made[];
  /** Results of the first three calls when each is sent a second time. */
  readonly again: readonly AdvanceResult[];
  /**
   * Result of the last call when a fresh process gets all calls in one request. Undefined: the environment is not
   * deterministic.
   */
  readonly together: AdvanceResult | undefined;
  /**
   * Results of the first call when the request names an environment, version or digest that the provider does not have.
   * The key is the name of that field.
   */
  readonly refused: ReadonlyMap<string, AdvanceResult>;
}

/**
 * Plays an episode of the first instance. Calls each tool with valid arguments, and sends hostile answers and the
 * reference answer.
 */
export async function advance(subject: Subject, [{ instance }]: Instances, turns: DescribedTurns): Promise<Advancing> {
  const { provider, described, signal } = subject;
  const ask = (
    state: Uint8Array | undefined,
    calls: readonly SentCall[],
    fresh = false,
    asked = described.asked,
  ): Promise<AdvanceResult> =>
    provider.advance(asked, { instance: instance.instance, state, calls }, { signal, fresh });
  const made: Made[] = [];
  for (const call of callsFor(turns, instance.reference)) {
    const state = stateOf(made.at(-1)?.result);
    const before = turns.stateBytesMax > 0 ? [] : made.map((each) => each.call);
    const result = await ask(state, [...before, call]);
    made.push({ call, state, result });
    if (result.kind === "failure" || result.turn.over) break;
  }
  const again: AdvanceResult[] = [];
  for (const [i, { call, state }] of made.slice(0, 3).entries()) {
    const before = turns.stateBytesMax > 0 ? [] : made.slice(0, i).map((each) => each.call);
    again.push(await ask(state, [...before, call]));
  }
  const all = made.map(({ call }) => call);
  const together = turns.isDeterministic ? await ask(undefined, all, true) : undefined;
  const refused = new Map<string, AdvanceResult>();
  for (const [name, other] of namesOfOthers(described.asked))
    refused.set(name, await ask(undefined, all.slice(0, 1), false, other));
  const { stateBytesMax, isDeterministic } = turns;
  return { terms: { ...described, stateBytesMax }, isDeterministic, made, again, together, refused };
}

function stateOf(result: AdvanceResult | undefined): Uint8Array | undefined {
  return result?.kind === "turn" ? result.turn.state : undefined;
}

/**
 * Returns the calls of an episode: calls of every tool, then hostile answers, repeated up to the maximum, and the
 * reference answer as the last one.
 */
function callsFor({ tools, callsMax, actionBytesMax }: DescribedTurns, reference: string | undefined) {
  const calls = tools.map(({ name, parameters }) => ({ tool: name, text: JSON.stringify(exampleOf(parameters)) }));
  const answers = [NONSENSE, ...HOSTILE, "x".repeat(actionBytesMax)].map((text) => ({ tool: "", text }));
  const last = reference === undefined ? [] : [{ tool: "", text: reference }];
  const most = [...calls, ...answers];
  const repeated = Array.from({ length: CALLS_MAX }, (_, i) => most[i % most.length] as (typeof most)[number]);
  const count = Math.min(callsMax, CALLS_MAX);
  return [...repeated.slice(0, count - last.length), ...last]
    .filter(({ text }) => Buffer.byteLength(text) <= actionBytesMax)
    .map((call, number): SentCall => ({ ...call, number, seed: BigInt(number + 1) }));
}

/** Returns the parts of a result that decide the rest of an episode, as text that can be compared. */
function told(result: AdvanceResult | undefined): string {
  if (result === undefined) return "nothing";
  if (result.kind === "failure") return `${result.failure}: ${onOneLine(result.detail)}`;
  const { reply, over, facts, state } = result.turn;
  const worth = facts === undefined ? "no facts" : worthOfFacts(facts);
  const kept = state === undefined ? "" : `, state ${Buffer.from(state).toString("base64").slice(0, 60)}`;
  return `${over ? "over, " : ""}${worth}, '${onOneLine(reply.slice(0, 60))}'${kept}`;
}

const callWords = ({ call }: Made): string =>
  `call ${call.number} (${call.tool || "an answer"}: '${onOneLine(call.text.slice(0, 40))}')`;

function difference(made: Made | undefined, now: AdvanceResult | undefined): Breach | undefined {
  if (made === undefined || now === undefined || told(made.result) === told(now)) return undefined;
  const words = `${told(made.result)} and then ${told(now)} for ${callWords(made)}`;
  return now.kind === "failure" ? { kind: now.failure, words } : words;
}

export const ON_ADVANCING: readonly Rule<Advancing>[] = [
  rule(
    "EnvironmentProviderAdvanceResponse.result",
    "must be a turn for every call that the tools' schemas allow: an exception is never the policy's fault",
    ({ made }) => {
      const failed = made.find(({ result }) => result.kind === "failure");
      if (failed?.result.kind !== "failure") return undefined;
      return { kind: failed.result.failure, words: `${told(failed.result)} for ${callWords(failed)}` };
    },
  ),
  ...each(
    ({ made }: Advancing) => made.flatMap(({ result }) => (result.kind === "turn" ? [result.turn] : [])),
    ON_TURN,
    (_, { terms }) => terms,
  ),
  rule(
    "EnvironmentProvider.Advance",
    "must give equal turns for equal requests, whatever the process did before",
    ({ made, again, isDeterministic }) =>
      isDeterministic ? firstOf(again.map((now, i) => difference(made[i], now))) : undefined,
  ),
  rule(
    "EnvironmentProviderAdvanceRequest.calls",
    "must lead to the same turn one at a time and together, also in another process",
    ({ made, together }) => difference(made.at(-1), together),
  ),
  ...NAMES.map((name) =>
    rule(
      `EnvironmentProviderAdvanceRequest.${name}`,
      "must be refused if the provider does not have it",
      ({ refused }: Advancing) =>
        refused.get(name)?.kind === "turn" ? "one that it does not have, and returned a turn" : undefined,
    ),
  ),
  rule("ProvidedTurn.facts", "must not count a meaningless answer as right", ({ terms, made }) =>
    firstOf(
      made.map((each) => {
        const { call, result } = each;
        if (result.kind !== "turn" || result.turn.facts === undefined || call.text !== NONSENSE) return undefined;
        const isTaken = isRight(terms, { kind: "facts", facts: result.turn.facts });
        return isTaken ? `${told(result)} for ${callWords(each)}` : undefined;
      }),
    ),
  ),
];
