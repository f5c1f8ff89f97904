/** Runs in a worker thread: a BatchStep request's bytes in, scored groups out. */
import { Piscina, workerData } from "piscina";
import { BatchStepRequestSchema, type CompletionGroup } from "../gen/gradus/v1/environment_pb.js";
import { type CodeName, RpcError } from "../rpc/rpc-error.ts";
import { parseKeyring } from "../tasks/keyring.ts";
import { NeedsPools, createScorer } from "../tasks/scorer.ts";
import { type GroupLimits, checkGroups } from "./check-groups.ts";
import { decoderOf } from "../wire/index.ts";
import { type Packed, pack } from "./packed.ts";
import { scoreGroup } from "./score-group.ts";

export interface ScoreWorkerData {
  /** As parseKeyring reads it. */
  readonly keys: string;
  readonly limits: GroupLimits;
  /** UTF-8 bytes. */
  readonly completionBytesMax: number;
}

export type Scored =
  | { readonly kind: "scored"; readonly packed: Packed; readonly failures: readonly ScoringFailure[] }
  | { readonly kind: "refused"; readonly code: CodeName; readonly message: string; readonly field: string | undefined }
  /** The bytes are no request, or they are of tasks that cannot be opened here: they go back. */
  | { readonly kind: "declined"; readonly request: Uint8Array };

/** A failure of ours, for the server's log. */
export interface ScoringFailure {
  readonly error: unknown;
  readonly environment: string;
  readonly version: number;
}

const { keys, limits, completionBytesMax } = workerData as ScoreWorkerData;
const parsed = parseKeyring(keys);
if (parsed.kind === "invalid") throw new Error(`a scoring worker was given no keys: ${parsed.message}`);
let failures: ScoringFailure[] = [];
const scorer = createScorer({
  keyring: parsed.keyring,
  pools: undefined,
  completionBytesMax,
  onFailure: (error, { environment, version }) => failures.push({ error, environment, version }),
});

/** Answers once the thread has booted. */
export function ready(): void {}

export default function scoreBytes(request: Uint8Array): Scored {
  failures = [];
  const groups = readGroups(request);
  if (groups === undefined) return moved({ kind: "declined", request }, request);
  try {
    checkGroups(groups, limits);
    const packed = pack(groups.map((group) => scoreGroup(scorer, group)));
    return moved({ kind: "scored", packed, failures }, packed.bytes);
  } catch (error) {
    if (error instanceof RpcError) {
      const { code, message, field } = error;
      return { kind: "refused", code, message, field };
    }
    if (error instanceof NeedsPools) return moved({ kind: "declined", request }, request);
    throw error;
  }
}

const decodeRequest = decoderOf(BatchStepRequestSchema);

/** Undefined: the bytes are no request. */
function readGroups(request: Uint8Array): readonly CompletionGroup[] | undefined {
  try {
    return decodeRequest(request).groups;
  } catch {
    return undefined;
  }
}

/** The value, to be handed over with its bytes moved instead of copied. */
function moved<T extends Scored>(value: T, bytes: Uint8Array): T {
  // Piscina looks for these two names on what a worker gives back.
  return Piscina.move({
    get [Piscina.transferableSymbol]() {
      return [bytes.buffer];
    },
    get [Piscina.valueSymbol]() {
      return value;
    },
  } as never) as never;
}
