/** `gradus keys`: lists and changes the keys that sign task ids, in the key file or in a database. */
import type { Command } from "commander";
import type { Config } from "../../server/runtime/config.ts";
import type { Change, Changed } from "../../server/tasks/rotate-keys.ts";
import type { Keyring } from "../../server/tasks/keyring.ts";
import { addFolderOptions, configOf, type LocalFlags } from "../connection.ts";
import { note } from "../notes.ts";
import { print, printJson, table } from "../print.ts";
import { CliProblem, fileProblem } from "../problem.ts";

type Flags = Pick<LocalFlags, "dataDir" | "keyFile"> & { readonly json?: boolean };

export function addKeys(program: Command): void {
  const keys = program.command("keys").addHelpText(
    "after",
    `
With --task-keys store, the task keys are in the PostgreSQL database of --store, encrypted with the key file's keys.

A server notices changed keys: it accepts a new key within a second or two, and signs with it 5 s later,
when the other servers that share the keys know it too. If servers have their own copies of the key file, first give
each a copy with the new key in the second place. When all have it, give each a copy with the key in the first place.`,
  );
  const list = keys
    .command("list")
    .description("list the keys: one signs new task ids, and ids that any of the keys signed are accepted");
  addOptions(list).action(async (flags: Flags) => {
    const config = configOf(flags);
    const { loadKeyring, keyFileOf } = await import("../../server/tasks/keyring.ts");
    if (config.taskKeys === "store") return show(flags, await changed(config, (text) => text));
    // Name the key file explicitly, because loadKeyring creates a missing default file.
    const loaded = loadKeyring({ ...config, keyFile: keyFileOf(config) });
    if (loaded.kind === "invalid") throw fileProblem(loaded.message);
    await show(flags, { place: keyFileOf(config), keyring: loaded.keyring });
  });
  const rotate = keys.command("rotate").description("add a new key, which signs from then on; the others stay valid");
  addOptions(rotate).action(async (flags: Flags) => {
    const { rotate } = await import("../../server/tasks/rotate-keys.ts");
    await show(flags, await changed(configOf(flags), rotate));
    note("gradus: the others stay valid until gradus keys retire");
  });
  const retire = keys
    .command("retire")
    .description("remove a key: task ids and exports of runs that it signed are refused from then on")
    .argument("<key>", "its name in gradus keys list");
  addOptions(retire).action(async (name: string, flags: Flags) => {
    const { retire } = await import("../../server/tasks/rotate-keys.ts");
    await show(flags, await changed(configOf(flags), retire(name)));
    note(`gradus: task ids and exports that ${name} signed are refused from now on`);
  });
}

const addOptions = (command: Command): Command => addFolderOptions(command, "keyFile", "taskKeys", "store");

/** Keys that sign task ids, and words for the place where they are stored. */
interface Held {
  readonly place: string;
  readonly keyring: Keyring;
}

type Place = Pick<Config, "taskKeys" | "store" | "keyFile" | "dataDir">;

async function changed(config: Place, change: Change): Promise<Held> {
  const { changeKeyFile } = await import("../../server/tasks/rotate-keys.ts");
  const result = config.taskKeys === "store" ? await changeStored(config, change) : changeKeyFile(config, change);
  if (result.kind === "changed") return { place: result.file, keyring: result.keyring };
  if (result.kind === "invalid") throw fileProblem(result.message);
  throw new CliProblem(result.kind === "missing" ? "missing" : "failure", result.message);
}

const noTaskKeys = {
  kind: "missing",
  message: "there are none: a server with --task-keys store makes them at its first start",
} as const;

async function changeStored(config: Place, change: Change): Promise<Changed> {
  const { loadKeyring, keyFileOf, parseKeyring } = await import("../../server/tasks/keyring.ts");
  const sealing = loadKeyring({ ...config, keyFile: keyFileOf(config) });
  if (sealing.kind === "invalid") throw fileProblem(sealing.message);
  const { changeTaskKeys } = await import("../../server/stores/postgres/task-keys.ts");
  const { CannotOpen } = await import("../../server/stores/thread.ts");
  try {
    const text = await changeTaskKeys(config.store, sealing.keyring, change);
    if (typeof text !== "string") {
      const { kind, message } = text ?? noTaskKeys;
      return { kind, message: `task keys of the database: ${message}` };
    }
    const parsed = parseKeyring(text);
    if (parsed.kind === "invalid") return { kind: "refused", message: parsed.message };
    return { kind: "changed", file: "in the database", keyring: parsed.keyring };
  } catch (error) {
    if (error instanceof CannotOpen) throw new CliProblem("unreachable", `--store: ${error.message}`);
    throw error;
  }
}

async function show({ json }: Flags, { place, keyring }: Held): Promise<void> {
  const { keyName } = await import("../../server/tasks/rotate-keys.ts");
  const rows = keyring.map((key, i) => ({ key: keyName(key), signs: i === 0 }));
  if (json) printJson({ file: place, keys: rows });
  else
    print(
      table(
        ["key", place],
        rows.map(({ key, signs }) => [key, signs ? "signs" : "accepted"]),
      ),
    );
}
