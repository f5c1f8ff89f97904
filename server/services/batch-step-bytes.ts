/** BatchStep for large requests: scored in a worker, from bytes to bytes; the runs are told here. */
import { type CallContext, type RawAnswer, type RawUnary, RpcError } from "../rpc/handlers.ts";
import { type Packed, unpack } from "../scoring/packed.ts";
import type { ScorePool } from "../scoring/score-pool.ts";
import type { ScoringFailure } from "../scoring/score-worker.ts";
import type { ServiceDeps } from "./deps.ts";
import { giveFeedback } from "./feedback.ts";

/** About 0.3 ms of scoring: below it, moving the work costs more than doing it. */
const BYTES_MIN = 256 * 1024;

export function batchStepBytes(
  deps: Pick<ServiceDeps, "runs" | "onFailure">,
  pool: ScorePool,
  onScoringFailure: (failure: ScoringFailure) => void,
): RawUnary {
  return {
    accepts: (byteLength) => byteLength >= BYTES_MIN && pool.hasRoom(),
    async answer(request: Uint8Array, _context: CallContext): Promise<RawAnswer> {
      const scored = await pool.score(ownBuffer(request));
      if (scored === "timeout")
        throw new RpcError("DEADLINE_EXCEEDED", "scoring took longer than --worker-time-limit-ms: send fewer groups");
      switch (scored.kind) {
        case "declined":
          return { kind: "declined", request: scored.request };
        case "refused": {
          const { code, message, field } = scored;
          throw new RpcError(code, message, field === undefined ? {} : { field });
        }
        case "scored":
          for (const failure of scored.failures) onScoringFailure(failure);
          return { kind: "answer", response: await complete(deps, scored.packed) };
      }
    },
  };
}

/** Bytes that share their buffer with others cannot be moved alone. */
function ownBuffer(bytes: Uint8Array): Uint8Array {
  // The five bytes before a gRPC message are its prefix, and nobody else's.
  return bytes.buffer.byteLength - bytes.byteLength <= 5 ? bytes : Uint8Array.from(bytes);
}

async function complete(deps: Pick<ServiceDeps, "runs" | "onFailure">, packed: Packed): Promise<Uint8Array> {
  if (packed.kind === "response") return packed.bytes;
  const given = packed.groups.map(({ feedback, sampleIndices }) => giveFeedback(deps, feedback, sampleIndices));
  return unpack(packed, await Promise.all(given));
}
