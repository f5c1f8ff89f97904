/** An instance of a mounted environment: what a provider sends, checked, and what of it travels in task ids. */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { AskedPlace, Baseline, Goal } from "../../../envs/environment.ts";
import type { ChatMessage } from "../../../envs/prompt.ts";
import type { ProvidedInstance } from "../../../proto/gen/gradus/v1/provider_pb.js";
import type { Described } from "./described.ts";

/** All that a provider said of an instance. */
export interface WholeInstance {
  readonly bytes: Uint8Array;
  readonly prompt: readonly ChatMessage[];
  readonly canonical: string;
  readonly reference: string | undefined;
  readonly baseline: Baseline | undefined;
  readonly metadata: Readonly<Record<string, string>>;
}

/** An instance as it was made, or what stands for it: its bytes, which came with a task id, or where to ask for it. */
export interface MountedInstance {
  /** Undefined of one that was just made. */
  readonly place: AskedPlace | undefined;
  readonly bytes: Uint8Array | undefined;
  readonly whole: WholeInstance | undefined;
}

// Bytes in task ids.

/** As much as an id of 4,096 characters has room for beside all else that it says. */
const CARRIED_BYTES_MAX = 2600;
/** What deflates to fewer bytes is at most so large, or it was made to burst. */
const INFLATED_BYTES_MAX = 1024 ** 2;
/** Shorter ones are carried as they are: to deflate them takes longer than to send them. */
const PLAIN_BYTES_MAX = 256;
const [PLAIN, DEFLATED] = [0, 1];

/** Undefined: they are too many. */
export function carried(bytes: Uint8Array): Uint8Array | undefined {
  if (bytes.length <= PLAIN_BYTES_MAX) return Buffer.concat([Buffer.from([PLAIN]), bytes]);
  const deflated = deflateRawSync(bytes);
  if (deflated.length >= CARRIED_BYTES_MAX) return undefined;
  return Buffer.concat([Buffer.from([DEFLATED]), deflated]);
}

/** What `carried` was given: the bytes are authenticated, so they are ours. */
export function uncarried(bytes: Uint8Array): Uint8Array {
  const rest = bytes.subarray(1);
  // Copied: what comes with an id is a view of a much larger buffer.
  if (bytes[0] === PLAIN) return Uint8Array.from(rest);
  return inflateRawSync(rest, { maxOutputLength: INFLATED_BYTES_MAX });
}

// What a provider sends, checked.

const INSTANCE_BYTES_MAX = 1024 ** 2;
const PROMPT_MESSAGES_MAX = 16;
const PROMPT_LENGTH_MAX = 1024 ** 2;
const CANONICAL_LENGTH_MAX = 1024 ** 2;
const METADATA_MAX = 32;
const METADATA_LENGTH_MAX = 1000;
const ROLES = ["system", "user", "assistant"] as const;

/** What is wrong with it, in words, or all of it. */
export function wholeOf({ goal }: Pick<Described, "goal">, wire: ProvidedInstance): WholeInstance | string {
  const { instance, prompt, reference, metadata } = wire;
  if (instance.length === 0) return "an instance has no bytes";
  if (instance.length > INSTANCE_BYTES_MAX)
    return `an instance has ${instance.length} bytes, and the limit is ${INSTANCE_BYTES_MAX}`;
  if (prompt.length === 0 || prompt.length > PROMPT_MESSAGES_MAX)
    return `a prompt must have 1 to ${PROMPT_MESSAGES_MAX} messages, and has ${prompt.length}`;
  const messages = prompt.flatMap(({ role: given, content }): ChatMessage[] => {
    const role = ROLES.find((known) => known === given);
    return role === undefined ? [] : [{ role, content }];
  });
  if (messages.length < prompt.length || messages.at(-1)?.role === "assistant")
    return "a prompt's messages are of system, user and assistant, and the last one is not the assistant's";
  if (prompt.reduce((sum, { content }) => sum + content.length, 0) > PROMPT_LENGTH_MAX)
    return `a prompt has more than ${PROMPT_LENGTH_MAX} characters`;
  if (wire.canonical.length > CANONICAL_LENGTH_MAX)
    return `a canonical text has ${wire.canonical.length} characters, and the limit is ${CANONICAL_LENGTH_MAX}`;
  const baseline = goal === "satisfy" ? undefined : baselineOf(goal, wire);
  if (typeof baseline === "string") return baseline;
  // Views of what came over a connection would keep all of it.
  const bytes = Uint8Array.from(instance);
  const canonical = wire.canonical === "" ? Buffer.from(bytes).toString("latin1") : wire.canonical;
  return { bytes, prompt: messages, canonical, reference, baseline, metadata: metadataOf(metadata) };
}

function baselineOf(
  goal: Exclude<Goal, "satisfy">,
  { baseline: value, baselineBound: bound = value }: ProvidedInstance,
): Baseline | string {
  if (value === undefined || bound === undefined)
    return "an instance has no baseline, and there is something to optimise";
  if (!Number.isFinite(value) || !Number.isFinite(bound)) return `a baseline is ${value}, and its bound ${bound}`;
  // Every answer as good as the best known would beat it, and could not be scored.
  if (goal === "maximize" ? bound < value : bound > value)
    return `an instance to ${goal} has a baseline of ${value}, which is better than its bound, ${bound}`;
  return { value, bound, proven: value === bound };
}

function metadataOf(wire: ProvidedInstance["metadata"]): Readonly<Record<string, string>> {
  const entries = Object.entries(wire).slice(0, METADATA_MAX);
  return Object.fromEntries(entries.map(([name, text]) => [name.slice(0, 64), text.slice(0, METADATA_LENGTH_MAX)]));
}
