/**
 * Instances of a mounted environment. Checks those that a provider sends, and packs an instance's bytes into task ids.
 */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { MountedPlace, Baseline } from "../../../envs/environment.ts";
import type { ChatMessage } from "../../../envs/prompt.ts";
import type { ProvidedInstance } from "../../../proto/gen/gradus/v1/provider_pb.js";
import type { Described } from "./read-description.ts";
import { ON_INSTANCE } from "./message-rules.ts";
import { problemOf } from "./rules.ts";

/** Everything that a provider sent about an instance: its bytes, prompt, reference answer and more. */
export interface WholeInstance {
  readonly bytes: Uint8Array;
  readonly prompt: readonly ChatMessage[];
  readonly canonical: string;
  readonly reference: string | undefined;
  readonly baseline: Baseline | undefined;
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * An instance of a task: just made (`whole`), unpacked from a task id (`bytes`), or only the seed from which it can be
 * made again (`place`).
 */
export interface MountedInstance {
  /** Level, seed and attempt from which the instance can be made again. Undefined: the instance was just made. */
  readonly place: MountedPlace | undefined;
  readonly bytes: Uint8Array | undefined;
  readonly whole: WholeInstance | undefined;
}

// Functions that pack instances into task ids.

/**
 * Maximum bytes that an instance may take up in a task id. A task id has at most 4,096 characters, and needs the rest
 * for other fields.
 */
const CARRIED_BYTES_MAX = 2600;
/** Maximum bytes after decompression, as a protection against decompression bombs. */
const INFLATED_BYTES_MAX = 1024 ** 2;
/** Instances up to this many bytes are not compressed, because compressing takes longer than sending them. */
const PLAIN_BYTES_MAX = 256;
const [PLAIN, DEFLATED] = [0, 1];

/** Packs an instance's bytes for a task id. Undefined: they are too many even when compressed. */
export function carried(bytes: Uint8Array): Uint8Array | undefined {
  if (bytes.length <= PLAIN_BYTES_MAX) return Buffer.concat([Buffer.from([PLAIN]), bytes]);
  const deflated = deflateRawSync(bytes);
  if (deflated.length >= CARRIED_BYTES_MAX) return undefined;
  return Buffer.concat([Buffer.from([DEFLATED]), deflated]);
}

/** Unpacks the bytes that `carried` packed. Task ids are authenticated, so the bytes are the server's own. */
export function uncarried(bytes: Uint8Array): Uint8Array {
  const rest = bytes.subarray(1);
  // The copy lets the large buffer be freed that contains the decoded task id.
  if (bytes[0] === PLAIN) return Uint8Array.from(rest);
  return inflateRawSync(rest, { maxOutputLength: INFLATED_BYTES_MAX });
}

// Functions that check instances from a provider.

/** Returns the instance if it obeys the provider rules. Otherwise returns the broken rule, in words. */
export function wholeOf({ goal }: Pick<Described, "goal">, wire: ProvidedInstance): WholeInstance | string {
  const problem = problemOf(ON_INSTANCE, wire, { goal });
  if (problem !== undefined) return problem;
  const { instance, prompt, canonical, reference, metadata, baseline: value = 0, baselineBound: bound = value } = wire;
  // The copy lets the connection's large buffer be freed.
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
