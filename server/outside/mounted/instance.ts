/** An instance of a mounted environment: what a provider sends, checked, and what of it travels in task ids. */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { AskedPlace, Baseline } from "../../../envs/environment.ts";
import type { ChatMessage } from "../../../envs/prompt.ts";
import type { ProvidedInstance } from "../../../proto/gen/gradus/v1/provider_pb.js";
import type { Described } from "./described.ts";
import { ON_INSTANCE } from "./message-rules.ts";
import { problemOf } from "./rules.ts";

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

/** Returns all of an instance, or the rule that it breaks, in words. */
export function wholeOf({ goal }: Pick<Described, "goal">, wire: ProvidedInstance): WholeInstance | string {
  const problem = problemOf(ON_INSTANCE, wire, { goal });
  if (problem !== undefined) return problem;
  const { instance, prompt, canonical, reference, metadata, baseline: value = 0, baselineBound: bound = value } = wire;
  // Views of what came over a connection would keep all of it.
  const bytes = Uint8Array.from(instance);
  return {
    bytes,
    prompt: prompt.map(({ role, content }) => ({ role, content }) as ChatMessage),
    canonical: canonical === "" ? Buffer.from(bytes).toString("latin1") : canonical,
    reference,
    baseline: goal === "satisfy" ? undefined : { value, bound, proven: value === bound },
    metadata: Object.fromEntries(Object.entries(metadata).map(([name, text]) => [name.slice(0, 64), text])),
  };
}
