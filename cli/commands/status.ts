/** `gradus status`: prints latencies, errors, processor time and memory of a server. */
import type { Command } from "commander";
import { type GradusClient, type ServerStatus, ServerStatusSchema } from "../../clients/ts/src/public.ts";
import { onOneLine } from "../../envs/lib/escape.ts";
import { addServerOptions, type ConnectionFlags, withServer } from "../connection.ts";
import { fields, jsonOf, number, print, printJson, table } from "../print.ts";

interface Flags extends ConnectionFlags {
  readonly json?: boolean;
}

export function addStatus(program: Command): void {
  const command = program.command("status").option("--json", "print JSON");
  addServerOptions(command).action((flags: Flags) =>
    withServer(flags, async (client: GradusClient) => {
      const status = await client.getServerStatus();
      if (flags.json) printJson(jsonOf(ServerStatusSchema, status));
      else print(statusText(status));
    }),
  );
}

const mebibytes = (bytes: bigint): string => `${bytes / 1_048_576n} MiB`;

function statusText(status: ServerStatus): string {
  const { problem, window, coresUsed, cores, memoryBytes, startMemoryBytes, memoryMaxBytes } = status;
  const { methods, errors, lastErrors } = status;
  const facts = fields([
    ["ready", problem === "" ? "yes" : `no: ${problem}`],
    ["window", `${window?.seconds ?? 0n} s`],
    ["event loop busy", `${number(100 * status.eventLoopUtilization)}%`],
    ["cores used", `${number(coresUsed)} of ${cores}`],
    [
      "memory",
      `${mebibytes(memoryBytes)} of ${mebibytes(memoryMaxBytes)}; ${mebibytes(startMemoryBytes)} at the start`,
    ],
  ]);
  const calls = table(
    ["method", "calls", "running", "p50 ms", "p99 ms"],
    methods.map(({ method, count, running, p50Ms, p99Ms }) => [
      ...[method, `${count}`, `${running}`, number(p50Ms), number(p99Ms)],
    ]),
  );
  const failures = table(
    ["method", "error", "in the window", "since the start"],
    errors.map(({ method, code, recent, count }) => [method, code, `${recent}`, `${count}`]),
  );
  const last = table(
    ["time", "method", "request id", "last errors of the log"],
    lastErrors.map(({ time, method, requestId, message }) => [
      new Date(Number(time?.seconds ?? 0n) * 1000).toISOString(),
      ...[method, requestId, message].map(onOneLine),
    ]),
  );
  const tables = [
    ...(methods.length > 0 ? [calls] : []),
    ...(errors.length > 0 ? [failures] : []),
    ...(lastErrors.length > 0 ? [last] : []),
  ];
  return [facts, ...tables].join("\n\n");
}
