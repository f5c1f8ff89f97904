/** Serves ComparePolicy, which tells how another policy would have drawn in a run. */
import { create } from "@bufbuild/protobuf";
import * as wire from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import type { ServiceHandlers } from "../../base/rpc.ts";
import { nextTurn, STRETCH_MS } from "../../base/time-slices.ts";
import type { ComparedDraw } from "../../curriculum/compare-policy.ts";
import type { ServiceDeps } from "../deps.ts";
import { readRunId } from "../request-checks.ts";
import { okOrThrow } from "../to-rpc-error.ts";
import { countRanks } from "./rank-ranges.ts";
import { policyFromWire } from "./read-policy.ts";

/** Minimum number of probabilities in each response of the stream, except the last. */
const PROBABILITIES = 16_384;

export function comparingHandlers(
  deps: ServiceDeps,
): Pick<ServiceHandlers<typeof wire.CurriculumService>, "comparePolicy"> {
  return {
    async *comparePolicy(request) {
      const runId = readRunId(request);
      const { arms } = okOrThrow(await deps.runs.get(runId)).configNow;
      const ids = arms.map(({ id }) => id);
      const policy = countRanks(deps, policyFromWire(request.policy, "", ids), arms);
      let draws: wire.ComparedDraw[] = [];
      let startMs = performance.now();
      for await (const draw of okOrThrow(await deps.runs.comparePolicy(runId, policy))) {
        draws.push(toWire(draw));
        if (draws.length * arms.length >= PROBABILITIES) {
          yield create(wire.ComparePolicyResponseSchema, { draws });
          draws = [];
        }
        if (performance.now() - startMs < STRETCH_MS) continue;
        await nextTurn();
        startMs = performance.now();
      }
      if (draws.length > 0) yield create(wire.ComparePolicyResponseSchema, { draws });
    },
  };
}

function toWire({ batch, cursor, recorded, probabilities = [] }: ComparedDraw): wire.ComparedDraw {
  return create(wire.ComparedDrawSchema, {
    updateBatch: BigInt(batch),
    cursor: BigInt(cursor),
    recorded: [...recorded],
    probabilities: [...probabilities],
  });
}
