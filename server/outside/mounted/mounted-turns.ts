/**
 * Episodes of a mounted environment. Each call is sent to the provider, with the provider's last state or all calls
 * before it.
 */
import { create } from "@bufbuild/protobuf";
import { type Failed, unavailable } from "../../../envs/facts.ts";
import { onOneLine } from "../../../envs/lib/escape.ts";
import type { Rng } from "../../../envs/lib/rng.ts";
import type { Resource } from "../../../envs/resource.ts";
import { problemOfArguments } from "../../../envs/turns/check-arguments.ts";
import type { Action, Advanced, AskingTurns } from "../../../envs/turns/turns.ts";
import {
  type MountedCall,
  MountedCallSchema,
  type MountedState,
  MountedStateSchema as schema,
} from "../../../proto/gen/gradus/internal/v1/game_states_pb.js";
import { verifierFailure } from "./attribute-failure.ts";
import { ON_TURN } from "./message-rules.ts";
import type { MountedInstance } from "./mounted-instance.ts";
import type { AdvanceAsked, AdvanceResult, AskOptions, Provider, SentCall } from "./provider.ts";
import type { Described, DescribedTurns } from "./read-description.ts";
import { readFacts } from "./read-facts.ts";
import { problemOf } from "./rules.ts";

interface MountedTurnsOptions {
  readonly described: Described;
  readonly provider: Provider;
  readonly resource: Resource;
  /** Returns the bytes of an instance, or the failure to make it again. */
  readonly bytesOf: (instance: MountedInstance) => Promise<Uint8Array | Failed>;
}

type MountedAdvanced = Advanced<MountedState>;

/**
 * Maximum bytes that the server's own encoding adds to a state, which holds the provider's state or all calls so far.
 */
const STATE_BYTES = 8;
/** Maximum bytes that the encoding of a call within a state takes in addition to the call's text. */
const CALL_BYTES = 24;

export function mountedTurns(
  declared: DescribedTurns,
  options: MountedTurnsOptions,
): AskingTurns<MountedInstance, typeof schema> {
  const { tools, calls, callsMax, actionBytesMax, stateBytesMax, needsTools } = declared;
  return {
    resource: options.resource,
    calls,
    callsMax,
    tools,
    actionBytesMax,
    keepsWholeNumbers: true,
    ...(needsTools && { needsTools }),
    schema,
    stateBytesMax: (_, count) =>
      STATE_BYTES + (stateBytesMax > 0 ? stateBytesMax : count * (actionBytesMax + CALL_BYTES)),
    start: () => create(schema),
    advance(instance, state, action, rng) {
      const problem = problemOfAction(declared, action);
      if (problem !== undefined) return { reply: `The call is invalid: ${problem}.`, state };
      const call = callOf(declared, action, rng);
      return {
        ask: async ({ party, signal }) => {
          const bytes = await options.bytesOf(instance);
          if ("kind" in bytes) return bytes;
          return carryOut(options, declared, bytes, state, call, { party, signal });
        },
      };
    },
  };
}

function problemOfAction({ tools, actionBytesMax }: DescribedTurns, action: Action): string | undefined {
  if (action.kind === "answer") return undefined;
  // The text for the provider can be longer than the policy's text, e.g. 1e20 becomes a number of 21 digits.
  if (Buffer.byteLength(textOf(action)) > actionBytesMax)
    return `the arguments, with numbers written out, are longer than ${actionBytesMax} bytes`;
  return problemOfArguments(tools.find(({ name }) => name === action.name)?.parameters, action.arguments);
}

function textOf({ arguments: given }: Extract<Action, { readonly kind: "tool" }>): string {
  return JSON.stringify(given);
}

function callOf({ tools }: DescribedTurns, action: Action, rng: Rng): MountedCall {
  const seed = (BigInt(rng.int(0, 2 ** 32 - 1)) << 32n) | BigInt(rng.int(0, 2 ** 32 - 1));
  const { number } = action;
  if (action.kind === "answer") return create(MountedCallSchema, { number, text: action.text, seed });
  const tool = tools.findIndex(({ name }) => name === action.name) + 1;
  return create(MountedCallSchema, { number, tool, text: textOf(action), seed });
}

/** Returns the request to carry out a call: the provider's last state, the calls after that state, and the new call. */
function askedOf(
  { tools }: DescribedTurns,
  instance: Uint8Array,
  { state, calls }: MountedState,
  call: MountedCall,
): AdvanceAsked {
  const sent = [...calls, call].map(({ number, tool, text, seed }): SentCall => ({
    number,
    tool: tools[tool - 1]?.name ?? "",
    text,
    seed,
  }));
  return { instance, state, calls: sent };
}

/**
 * Carries out a call of an episode. If the process that carries it out hangs or dies, a fresh process tries again.
 *
 * If the second try fails too, an empty answer is sent in the same state. If that succeeds, the call is to blame, and
 * the policy gets a reply that says so. Any other failure is the environment's.
 */
async function carryOut(
  { provider, described, resource: { name } }: MountedTurnsOptions,
  declared: DescribedTurns,
  instance: Uint8Array,
  state: MountedState,
  call: MountedCall,
  { party, signal }: AskOptions,
): Promise<MountedAdvanced | Failed> {
  const ask = (given: MountedCall, fresh: boolean): Promise<AdvanceResult> =>
    provider.advance(described.asked, askedOf(declared, instance, state, given), { party, signal, fresh });
  let found = await ask(call, false);
  if (isProcessFailure(found) && !signal.aborted) found = await ask(call, true);
  if (found.kind === "turn") return advancedOf(described, declared, name, state, call, found.turn);
  if (isProcessFailure(found) && !signal.aborted) {
    const probe = create(MountedCallSchema, { number: call.number, seed: call.seed });
    const isCallAtFault = call.text !== "" && (await ask(probe, true)).kind === "turn";
    if (isCallAtFault)
      return { reply: `The call ${verifierFailure[found.failure]}, so it was not carried out.`, state };
  }
  const words = `carrying out a call failed (${found.failure}): ${onOneLine(found.detail)}`;
  return unavailable(name, words, { retryable: found.failure !== "raised" });
}

type ProcessFailure = Extract<AdvanceResult, { kind: "failure" }> & { readonly failure: keyof typeof verifierFailure };

function isProcessFailure(found: AdvanceResult): found is ProcessFailure {
  return found.kind === "failure" && Object.hasOwn(verifierFailure, found.failure);
}

function advancedOf(
  described: Described,
  { stateBytesMax }: DescribedTurns,
  resource: string,
  before: MountedState,
  call: MountedCall,
  turn: Extract<AdvanceResult, { kind: "turn" }>["turn"],
): MountedAdvanced | Failed {
  const wrong = (why: string): Failed =>
    unavailable(resource, `carrying out a call gave no valid turn: ${why}`, { retryable: false });
  const problem = problemOf(ON_TURN, turn, { ...described, stateBytesMax });
  if (problem !== undefined) return wrong(problem);
  const read = turn.facts && readFacts(described, turn.facts);
  if (read?.kind === "wrong") return wrong(read.why);
  const { reply, over } = turn;
  // The state is copied, because a view of the response would keep the connection's whole buffer in memory.
  const state =
    turn.state === undefined
      ? create(schema, { calls: [...before.calls, call] })
      : create(schema, { state: Uint8Array.from(turn.state) });
  const advanced = { reply, state, over };
  return read === undefined || read.facts.kind === "malformed" ? advanced : { ...advanced, facts: read.facts };
}
