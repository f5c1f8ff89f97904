/** `gradus doctor`: reports what is missing on this machine, and how to get it. */
import type { Command } from "commander";
import { addServeOptions, readConfig } from "../../server/runtime/config.ts";
import { addReachOptions, type ConnectionFlags, withClient } from "../connection.ts";
import { type Check, missing, type State } from "../doctor-check.ts";
import { inColour } from "../../server/runtime/terminal.ts";
import { print, printJson } from "../print.ts";
import { CliProblem, describe } from "../problem.ts";

type Flags = ConnectionFlags & { readonly json?: boolean };

export function addDoctor(program: Command): void {
  const command = program
    .command("doctor")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      "\nIt takes the flags and variables of gradus serve. It exits with 1 if something is missing.",
    );
  addReachOptions(addServeOptions(command)).action(async (flags: Flags) => {
    const found: Check[] = [];
    for await (const check of allChecks(flags)) {
      found.push(check);
      if (!flags.json) print(shown(check));
    }
    if (flags.json) printJson(found);
    const lacking = found.filter(({ state }) => state === "missing").map(({ name }) => name);
    if (lacking.length > 0) throw new CliProblem("failure", `missing: ${lacking.join(", ")}`);
  });
}

async function* allChecks(flags: Flags): AsyncGenerator<Check> {
  const read = readConfig(flags as Readonly<Record<string, unknown>>, process.env);
  const { checks } = await import("../doctor.ts");
  if (read.kind === "ok") yield* checks(read.config);
  else yield missing("configuration", read.message, "gradus serve --help lists the flags");
  if (flags.server !== undefined) yield* await reached(flags, flags.server);
}

async function reached(flags: Flags, server: string): Promise<readonly Check[]> {
  const { serverCheck, serverRunsCheck } = await import("../doctor.ts");
  try {
    return await withClient(flags, async (client) => [
      await serverCheck(client, server),
      await serverRunsCheck(client),
    ]);
  } catch (error) {
    const { kind, message } = describe(error);
    const remedy =
      kind === "unreachable" ? "gradus serve starts one" : "correct what the message names, e.g. the token";
    return [missing("server", message, remedy)];
  }
}

const styles = { ok: "green", warning: "yellow", missing: "red" } as const satisfies Record<State, string>;

function shown({ name, state, found, remedy }: Check): string {
  const line = `${inColour(styles[state], state.padEnd(7), "stdout")}  ${name}: ${found}`;
  return remedy === undefined ? line : `${line}\n         ${remedy}`;
}
