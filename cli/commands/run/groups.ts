/**
 * `gradus run groups`, `close-groups` and `reopen-groups`: list groups of samples that are still incomplete, e.g. after
 * a trainer crashed, and close or reopen groups.
 */
import type { Command } from "commander";
import { type GroupFeedback, type RunGroup, RunGroupSchema } from "../../../clients/ts/src/public.ts";
import { addServerOptions, type ConnectionFlags, withServer } from "../../connection.ts";
import { jsonOf, number, print, printJson, table } from "../../print.ts";
import { wholeNumber } from "../../task-options.ts";

interface Flags extends ConnectionFlags {
  readonly batch?: number;
  readonly reason?: string;
  readonly json?: boolean;
}

export function addGroups(group: Command): void {
  const list = group
    .command("groups")
    .description("list open groups with their missing samples, or all groups of an update batch")
    .argument("<run>", "its id")
    .option("--batch <n>", "the groups of this update batch, counted from 0", wholeNumber(0, Number.MAX_SAFE_INTEGER))
    .option("--json", "print JSON: the contract's RunGroups, with their tasks");
  addServerOptions(list).action(async (id: string, flags: Flags) => {
    const which = flags.batch === undefined ? "open" : BigInt(flags.batch);
    const tasks = flags.json === true;
    const groups = await withServer(flags, (client) => client.run(id).groups({ which, tasks }));
    if (flags.json) printJson(groups.map((one) => jsonOf(RunGroupSchema, one)));
    else print(groups.length === 0 ? "no groups" : listed(groups));
  });

  const close = group
    .command("close-groups")
    .description("close groups whose missing completions will not arrive; the completions that arrived count")
    .argument("<run>", "its id")
    .argument("<group...>", "group ids, as gradus run groups lists them")
    .option("--reason <words>", "reason for the run's history")
    .option("--json", "print JSON");
  addServerOptions(close).action(async (id: string, ids: readonly string[], flags: Flags) => {
    printFeedback(flags, await withServer(flags, (client) => client.run(id).closeGroups(ids, flags.reason)));
  });

  const reopen = group
    .command("reopen-groups")
    .description("reopen groups that were closed before they were complete, e.g. by a timeout")
    .argument("<run>", "its id")
    .argument("<group...>", "group ids")
    .option("--json", "print JSON");
  addServerOptions(reopen).action(async (id: string, ids: readonly string[], flags: Flags) => {
    printFeedback(flags, await withServer(flags, (client) => client.run(id).reopenGroups(ids)));
  });
}

function listed(groups: readonly RunGroup[]): string {
  const rows = groups.map(({ groupId, cursor, updateBatch, armId, missing, statistics, closed }) => [
    ...[groupId, String(cursor), String(updateBatch), armId, closed ? "closed" : "open"],
    statistics === undefined ? "" : number(statistics.mean),
    missing.join(" "),
  ]);
  return table(["group", "cursor", "batch", "arm", "", "reward", "missing samples"], rows);
}

function printFeedback({ json }: Flags, groups: readonly GroupFeedback[]): void {
  const rows = groups.map(({ groupId, status, detail }) => ({ groupId, status, detail }));
  if (json) printJson(rows);
  else
    print(
      table(
        ["group", "", ""],
        rows.map(({ groupId, status, detail }) => [groupId, status, detail]),
      ),
    );
}
