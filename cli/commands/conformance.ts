/** `gradus conformance`: checks, clause by clause, whether the server or provider at an address meets the contract. */
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { openRemote } from "../../server/outside/mounted/remote-provider.ts";
import type { ClauseResult } from "../conformance/clause.ts";
import { conformProvider, conformServer, isServer } from "../conformance/conform.ts";
import {
  addServerOptions,
  hostPort,
  clientOptions,
  collect,
  type ConnectionFlags,
  DEFAULT_SERVER,
  remoteOf,
} from "../connection.ts";
import { inColour } from "../../server/runtime/terminal.ts";
import { print, printJson } from "../print.ts";
import { CliProblem, problemOf } from "../problem.ts";

interface Flags extends ConnectionFlags {
  readonly environment?: readonly string[];
  readonly json?: boolean;
}

export function addConformance(program: Command): void {
  const command = program
    .command("conformance")
    .argument("[address]", "host:port of its gRPC port (default: that of --server)", hostPort)
    .option("--environment <id>", "try this environment; may be given several times (default: all)", collect)
    .option("--json", "print JSON: each clause with what was found")
    .addHelpText(
      "after",
      `
Each clause is a sentence that holds (pass), does not hold (FAIL, with the reason), or cannot be tried at this address
(skip, with the reason). On a server, a run is created and deleted. The exit code is 1 if a clause fails.`,
    );
  addServerOptions(command).action(conformance);
}

async function conformance(given: string | undefined, { json, environment = [], ...flags }: Flags): Promise<void> {
  const address = given ?? flags.server ?? DEFAULT_SERVER;
  await report(triedAt(address, flags, environment), json === true, (count) => `${address} breaks ${count} clauses`);
}

/**
 * Prints the result of each clause as soon as it is known, or JSON at the end. Throws a CliProblem if any clause is
 * broken.
 */
export async function report(
  tried: AsyncIterable<ClauseResult>,
  json: boolean,
  failure: (count: number) => string,
): Promise<void> {
  const found: ClauseResult[] = [];
  let head = "";
  for await (const each of tried) {
    found.push(each);
    if (json) continue;
    const next = each.of === "" ? each.part : `${each.part} of ${each.of}`;
    if (next !== head) print(`${head === "" ? "" : "\n"}${next}`);
    head = next;
    print(lineOf(each));
  }
  if (json) printJson(found);
  const count = (kind: ClauseResult["finding"]["kind"]): number =>
    found.filter(({ finding }) => finding.kind === kind).length;
  if (!json)
    print(
      `\n${count("pass")} kept, ${count("fail")} broken, ${count("warn")} advised against, ${count("skip")} not tried`,
    );
  if (count("fail") > 0) throw new CliProblem("failure", failure(count("fail")));
}

const WORDS = {
  pass: ["green", "pass"],
  fail: ["red", "FAIL"],
  warn: ["yellow", "warn"],
  skip: ["yellow", "skip"],
} as const;

function lineOf({ says, ms, finding }: ClauseResult): string {
  const [colour, word] = WORDS[finding.kind];
  const line = `  ${inColour(colour, word, "stdout")}  ${says}${ms > 0 ? ` (${ms.toFixed(1)} ms)` : ""}`;
  return finding.kind === "pass" ? line : `${line}\n        ${finding.kind === "skip" ? "" : "got "}${finding.reason}`;
}

async function* triedAt(
  address: string,
  flags: ConnectionFlags,
  environments: readonly string[],
): AsyncGenerator<ClauseResult> {
  // Let the client ignore errors about feedback. Some clauses send feedback that runs must refuse, and they check the
  // server's reply themselves.
  const client = await remoteOf(address, flags, { onFeedback: "ignore" });
  try {
    if (await isServer(client)) {
      yield* conformServer(client, environments);
      return;
    }
  } catch (error) {
    throw problemOf(error, address);
  } finally {
    client.close();
  }
  const tls = flags.tls === true || flags.tlsCa !== undefined;
  const ca = flags.tlsCa === undefined ? undefined : readFileSync(flags.tlsCa);
  const { token } = clientOptions(flags);
  const opened = await openRemote({ kind: "remote", name: address, address, tls, ca, token });
  if (opened.kind === "failed") throw new CliProblem("unreachable", opened.why);
  try {
    yield* conformProvider(opened.provider, { environments });
  } finally {
    await opened.provider.close();
  }
}
