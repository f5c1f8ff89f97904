/** `gradus backup` and `gradus restore`: write a server's data folder to one file, and read it back. */
import type { Command } from "commander";
import { addFolderOptions, configOf, type LocalFlags } from "../connection.ts";
import { withOut } from "../out.ts";
import { print, printJson } from "../print.ts";
import { CliProblem } from "../problem.ts";

type Flags = Pick<LocalFlags, "dataDir" | "keyFile"> & { readonly json?: boolean; readonly force?: boolean };

export function addBackup(program: Command): void {
  const command = program.command("backup").argument("<file>", "file to write; it contains keys, so keep it secret");
  addFolderOptions(command, "keyFile").action(async (file: string, flags: Flags) => {
    const config = folderOf(flags);
    const { keyFileOf } = await import("../../server/tasks/keyring.ts");
    const { backUp } = await import("../../server/stores/backup.ts");
    const held = await withOut("<file>", file, (path) => backUp(config.dataDir, keyFileOf(config), path)).catch(
      asProblem,
    );
    if (flags.json) printJson({ file, ...held });
    else print(`${file}: ${held.runs} runs, ${held.events} events, each checked; ${held.files.join(", ")}`);
  });
}

export function addRestore(program: Command): void {
  const command = program
    .command("restore")
    .argument("<file>", "from gradus backup")
    .option("--force", "if the data folder is not empty, move its present content into a new subfolder");
  addFolderOptions(command).action(async (file: string, flags: Flags) => {
    const { dataDir } = folderOf(flags);
    const { restore } = await import("../../server/stores/backup.ts");
    const restored = await restore(file, dataDir, flags.force === true).catch(asProblem);
    if (flags.json) return printJson({ dataDir, ...restored });
    print(`${dataDir}: ${restored.runs} runs, ${restored.events} events, each as it was written`);
    if (restored.replaced !== undefined) print(`the previous content is in ${restored.replaced}`);
  });
}

function folderOf(flags: Flags): ReturnType<typeof configOf> {
  const config = configOf(flags);
  if (config.store === "sqlite") return config;
  throw new CliProblem(
    "usage",
    "only runs in a data folder (--store sqlite) can be backed up or restored: use pg_dump for PostgreSQL",
  );
}

async function asProblem(error: unknown): Promise<never> {
  const { BackupProblem } = await import("../../server/stores/backup.ts");
  // Print SQLite's own message, which tells the user what is wrong, e.g. a full or failing disk.
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ERR_SQLITE_ERROR") throw new CliProblem("failure", `cannot read or write the backup: ${message}`);
  if (!(error instanceof BackupProblem)) throw error;
  throw new CliProblem(error.missing ? "missing" : "failure", error.message);
}
