/**
 * Makes the protobuf message ServerInfo: facts about the server, its limits, resources and load, and who the caller is.
 */
import { create } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { students } from "../../simulation/students.ts";
import {
  file_gradus_v1_environment,
  type GetServerInfoResponse,
  GetServerInfoResponseSchema,
} from "../../../proto/gen/gradus/v1/environment_pb.js";
import { portKinds } from "../../outside/port-kinds.ts";
import type { CallContext } from "../../base/rpc.ts";
import type { ServiceDeps } from "../deps.ts";
import { noRewardReasons } from "../write-outcome.ts";

export function serverInfo(deps: ServiceDeps, { caller, role }: CallContext): GetServerInfoResponse {
  const { facts, registry, limits, status, samples, noRewards } = deps;
  return create(GetServerInfoResponseSchema, {
    server: {
      ...facts,
      contract: file_gradus_v1_environment.proto.package,
      environments: registry.environments.length,
      ports: portsOf(deps),
      limits: {
        messageBytes: BigInt(limits.maxMessageBytes),
        groups: limits.maxGroups,
        completions: limits.maxCompletions,
        completionBytes: limits.maxCompletionBytes,
        batchSeeds: limits.maxBatchSeeds,
      },
      startTime: timestampFromMs(status.startedAtMs),
      queues: status.queues().map((queue) => ({ ...queue })),
      replicas: status.replicas().map(({ id, ageMs }) => ({ id, age: durationFromMs(Math.max(0, ageMs)) })),
      noRewards: noRewards
        .all()
        .map(({ reason, resource, count }) => ({ reason: noRewardReasons[reason], resource, count: BigInt(count) })),
      keepSamplesBytes: BigInt(samples.bytesMax),
      ...(samples.bytesMax > 0 && { keepSamplesFor: durationFromMs(samples.keptMs) }),
      students: students.map(({ name, models }) => ({ name, models })),
    },
    caller: { name: caller, role },
  });
}

function portsOf({ missingPorts = {}, status }: ServiceDeps) {
  const loads = new Map(status.ports().map((load) => [load.name, load]));
  const ports = portKinds.map(([name]) => {
    const { running = 0, waiting = 0, down = "" } = loads.get(name) ?? {};
    return { name, missing: missingPorts[name] ?? "", running, waiting, down };
  });
  return ports.sort((a, b) => (a.name < b.name ? -1 : 1));
}
