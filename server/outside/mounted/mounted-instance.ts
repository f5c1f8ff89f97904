/**
 * Instances of a mounted environment: checks what a provider sends, and packs an instance's bytes
 * into task ids.
 */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { MountedPlace, Baseline } from "../../../envs/environment.ts";
import type { ChatMessage } from "../../../envs/prompt.ts";
import type { ProvidedInstance } from "../../../proto/gen/gradus/v1/provider_pb.js";
import type { Described } from "./read-description.ts";
import { ON_INSTANCE } from "./message-rules.ts";
import { problemOf } from "./rules.ts";

/** Everything that a provider sent for an instance. */
export interface WholeInstance {
  readonly bytes: Uint8Array;
  readonly prompt: readonly ChatMessage[];
  readonly canonical: string;
  readonly reference: string | undefined;
  readonly baseline: Baseline | undefined;
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * An instance as it was made, or a stand-in: its bytes from a task id, or the place to make it
 * again from.
 */
export interface MountedInstance {
  /** Undefined for an instance that was just made. */
  readonly place: MountedPlace | undefined;
  readonly bytes: Uint8Array | undefined;
  readonly whole: WholeInstance | undefined;
}

// Bytes in task ids.

/** Maximum bytes in a task id: 4,096 characters have room for these beside the id's other fields. */
const CARRIED_BYTES_MAX = 2600;
/** Maximum bytes after inflating. More would be a decompression bomb. */
const INFLATED_BYTES_MAX = 1024 ** 2;
/** Maximum bytes that are carried uncompressed, because deflating them takes longer than sending them. */
const PLAIN_BYTES_MAX = 256;
const [PLAIN, DEFLATED] = [0, 1];

/** Packs an instance's bytes for a task id. Undefined if they are too many. */
export function carried(bytes: Uint8Array): Uint8Array | undefined {
  if (bytes.length <= PLAIN_BYTES_MAX) return Buffer.concat([Buffer.from([PLAIN]), bytes]);
  const deflated = deflateRawSync(bytes);
  if (deflated.length >= CARRIED_BYTES_MAX) return undefined;
  return Buffer.concat([Buffer.from([DEFLATED]), deflated]);
}

/** Unpacks the result of `carried`. Task ids are authenticated, so the bytes are the server's own. */
export function uncarried(bytes: Uint8Array): Uint8Array {
  const rest = bytes.subarray(1);
  // Copied, because an id's bytes are a view of a much larger buffer.
  if (bytes[0] === PLAIN) return Uint8Array.from(rest);
  return inflateRawSync(rest, { maxOutputLength: INFLATED_BYTES_MAX });
}

// Checks of a provider's instances.

/** Returns the whole instance, or the rule that it breaks, in words. */
export function wholeOf({ goal }: Pick<Described, "goal">, wire: ProvidedInstance): WholeInstance | string {
  const problem = problemOf(ON_INSTANCE, wire, { goal });
  if (problem !== undefined) return problem;
  const { instance, prompt, canonical, reference, metadata, baseline: value = 0, baselineBound: bound = value } = wire;
  // Copied, because a view would keep the connection's whole buffer in memory.
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
