/** gradus keys: the keys that task ids are signed with, in their file. */
import type { Command } from "commander";
import type { Changed } from "../../server/tasks/key-file.ts";
import type { Keyring } from "../../server/tasks/keyring.ts";
import { addFolderOptions, configOf, type LocalFlags } from "../connection.ts";
import { note } from "../notes.ts";
import { print, printJson, table } from "../print.ts";
import { CliProblem, fileProblem } from "../problem.ts";

type Flags = Pick<LocalFlags, "dataDir" | "keyFile"> & { readonly json?: boolean };

export function addKeys(program: Command): void {
  const keys = program
    .command("keys")
    .description("list, rotate and retire the keys that task ids are signed with")
    .addHelpText(
      "after",
      `
A server reads the file again when it changes: it accepts a new key within a second or two, and signs with it 5 s later,
when the other servers that share the file know it too. To servers that have copies of it, give a copy with the new key in
the second place first, and one with it in the first place when all have that.`,
    );
  const list = keys.command("list").description("the keys of the file: one signs, and all are accepted");
  addFolderOptions(list, "keyFile").action(async (flags: Flags) => {
    const { loadKeyring, keyFileOf } = await import("../../server/tasks/keyring.ts");
    const place = configOf(flags);
    // Named, so that it is not made.
    const loaded = loadKeyring({ ...place, keyFile: keyFileOf(place) });
    if (loaded.kind === "invalid") throw fileProblem(loaded.message);
    await show(flags, keyFileOf(place), loaded.keyring);
  });
  const rotate = keys
    .command("rotate")
    .description("put a new key first, which signs from then on; the others stay valid");
  addFolderOptions(rotate, "keyFile").action(async (flags: Flags) => {
    const { rotateKeys } = await import("../../server/tasks/key-file.ts");
    await showChanged(flags, rotateKeys(configOf(flags)), "the others stay valid until gradus keys retire");
  });
  const retire = keys
    .command("retire")
    .description("take a key out: task ids and exports of runs that it signed are refused from then on")
    .argument("<key>", "its name in gradus keys list");
  addFolderOptions(retire, "keyFile").action(async (name: string, flags: Flags) => {
    const { retireKey } = await import("../../server/tasks/key-file.ts");
    await showChanged(flags, retireKey(configOf(flags), name), `what ${name} signed is refused from now on`);
  });
}

async function showChanged(flags: Flags, changed: Changed, words: string): Promise<void> {
  if (changed.kind !== "changed")
    throw new CliProblem(changed.kind === "missing" ? "missing" : "failure", changed.message);
  await show(flags, changed.file, changed.keyring);
  note(`gradus: ${words}`);
}

async function show({ json }: Flags, file: string, keyring: Keyring): Promise<void> {
  const { keyName } = await import("../../server/tasks/key-file.ts");
  const rows = keyring.map((key, i) => ({ key: keyName(key), signs: i === 0 }));
  if (json) printJson({ file, keys: rows });
  else
    print(
      table(
        ["key", file],
        rows.map(({ key, signs }) => [key, signs ? "signs" : "accepted"]),
      ),
    );
}
