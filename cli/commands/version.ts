/** `gradus version`: prints the version of this command line, and of a server. */
import type { Command } from "commander";
import { type GradusClient, ServerInfoSchema } from "../../clients/ts/src/public.ts";
import { commit, version } from "../../server/runtime/version.ts";
import { addServerOptions, type ConnectionFlags, withServer } from "../connection.ts";
import { fields, jsonOf, print, printJson } from "../print.ts";

interface Flags extends ConnectionFlags {
  readonly json?: boolean;
}

export function addVersion(program: Command): void {
  const command = program.command("version").option("--json", "print JSON");
  addServerOptions(command, "without it: of the command line alone").action(async (flags: Flags) => {
    if (flags.server !== undefined) return withServer(flags, (client) => ofServer(client, flags));
    if (flags.json) printJson({ version, commit });
    else print(spelled(version, commit));
  });
}

const spelled = (version: string, commit: string): string => (commit === "" ? version : `${version} (${commit})`);

async function ofServer(client: GradusClient, flags: Flags): Promise<void> {
  const info = await client.getServerInfo();
  if (flags.json) return printJson(jsonOf(ServerInfoSchema, info));
  const { environments, contract, store, replicaId, ports, limits } = info;
  const counts: readonly (readonly [string, bigint | number | undefined])[] = [
    ["message bytes at most", limits?.messageBytes],
    ["groups of a call", limits?.groups],
    ["completions of a group", limits?.completions],
    ["completion bytes", limits?.completionBytes],
    ["seeds of a call", limits?.batchSeeds],
  ];
  print(
    fields([
      ["command line", spelled(version, commit)],
      ["server", spelled(info.version, info.commit)],
      ["contract", contract],
      ["environments", String(environments)],
      ["store", store],
      ["replica", replicaId],
      ...ports.map(({ name, missing }) => [name, missing === "" ? "yes" : missing] as const),
      ...counts.map(([name, count]) => [name, count?.toString()] as const),
    ]),
  );
}
