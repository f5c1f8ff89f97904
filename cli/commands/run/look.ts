/** `gradus run list`, `gradus run get` and `gradus run delete`: list, show and delete runs. */
import type { Command } from "commander";
import { type Run, RunSchema } from "../../../clients/ts/src/public.ts";
import { addServerOptions, collect, type ConnectionFlags, withServer } from "../../connection.ts";
import { jsonOf, print, printJson, table, terminalWidth } from "../../print.ts";
import { standingText, stateLines, tasksText } from "../../runs/lines.ts";
import { noteLines } from "./notes.ts";

interface Flags extends ConnectionFlags {
  readonly json?: boolean;
}

export function addLook(group: Command): void {
  const list = group
    .command("list")
    .description("list the runs of a server")
    .option("--tag <tag>", "only runs with this tag; may be given several times, for runs with all of them", collect)
    .option("--json", "print JSON");
  addServerOptions(list).action(async ({ tag: tags = [], ...flags }: Flags & { readonly tag?: readonly string[] }) => {
    const all = await withServer(flags, (client) => client.listRuns());
    const runs = all.filter(({ state }) => tags.every((tag) => state?.tags.includes(tag)));
    if (flags.json) printJson(runs.map((run) => jsonOf(RunSchema, run)));
    else if (runs.length > 0) print(listed(runs));
    else print(all.length > 0 ? "no run has all these tags" : "no runs: gradus run create FILE makes one");
  });

  const get = group
    .command("get")
    .description("show a run as it stands")
    .argument("<run>", "its id")
    .option("--json", "print JSON: the contract's Run, with its configuration");
  addServerOptions(get).action(async (id: string, flags: Flags) => {
    const run = await withServer(flags, (client) => client.run(id).get());
    if (flags.json) printJson(jsonOf(RunSchema, run));
    else if (run.state !== undefined) {
      const described = noteLines(run.state);
      const below = described.length === 0 ? [] : ["", ...described];
      print([...stateLines(run.config, run.state, terminalWidth()), ...below].join("\n"));
    }
  });

  const remove = group
    .command("delete")
    .description("delete a run and everything stored for it; gradus run export saves it first")
    .argument("<run>", "its id")
    .option("--json", "print JSON");
  addServerOptions(remove).action(async (id: string, flags: Flags) => {
    await withServer(flags, (client) => client.run(id).delete());
    if (flags.json) printJson({ deleted: id });
    else print(`${id} is deleted`);
  });
}

function listed(runs: readonly Run[]): string {
  const rows = runs.map(({ runId, config, state, unreadable }) => {
    if (unreadable !== "") return [runId, "", "cannot be read", "", "", "", ""];
    const standing = (state && standingText(state)) || "going on";
    const malformed = state?.formatWarning === undefined ? "" : ", malformed";
    const tasks = state === undefined ? "0" : tasksText(config, state);
    const arms = String(state?.arms.filter(({ removed }) => !removed).length ?? 0);
    return [
      runId,
      state?.policy?.kind.case ?? "",
      `${standing}${malformed}`,
      tasks,
      String(state?.samplesRecorded ?? 0n),
      arms,
      state?.tags.join(" ") ?? "",
    ];
  });
  const reasons = runs.flatMap(({ unreadable }) => (unreadable === "" ? [] : [unreadable]));
  // The column of tags is left out if no run has any.
  const columns = ["run", "policy", "", "tasks", "samples", "arms", "tags"];
  const shown = rows.some(([, , , , , , tags]) => tags !== "") ? columns : columns.slice(0, -1);
  const cells = rows.map((row) => row.slice(0, shown.length));
  return [table(shown, cells), ...reasons].join("\n");
}
