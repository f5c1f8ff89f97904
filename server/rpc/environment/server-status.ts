/** Makes the protobuf message ServerStatus: load, latencies and errors of this server process. */
import { create } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type GetServerStatusResponse,
  GetServerStatusResponseSchema,
} from "../../../proto/gen/gradus/v1/environment_pb.js";
import { type CallContext, RpcError } from "../../base/rpc.ts";
import type { ServiceDeps } from "../deps.ts";

export function serverStatus({ status }: ServiceDeps, { role }: Pick<CallContext, "role">): GetServerStatusResponse {
  if (status.activity === undefined)
    throw new RpcError("UNIMPLEMENTED", "only a running server has a status: give the address of one");
  const { windowMs, memoryBytes, startMemoryBytes, memoryMaxBytes, ...activity } = status.activity();
  // Messages of errors may quote other callers' requests.
  const lastErrors = role === "operator" ? activity.lastErrors : [];
  return create(GetServerStatusResponseSchema, {
    status: {
      ...activity,
      window: durationFromMs(Math.round(windowMs)),
      memoryBytes: BigInt(memoryBytes),
      startMemoryBytes: BigInt(startMemoryBytes),
      memoryMaxBytes: BigInt(memoryMaxBytes),
      methods: activity.methods.map((each) => ({ ...each, count: BigInt(each.count) })),
      errors: activity.errors.map((each) => ({ ...each, count: BigInt(each.count), recent: BigInt(each.recent) })),
      lastErrors: lastErrors.map(({ timeMs, ...each }) => ({ ...each, time: timestampFromMs(timeMs) })),
    },
  });
}
