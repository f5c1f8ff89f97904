/** Reads a folder that save_to_disk of Hugging Face `datasets` wrote. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PoolFileProblem } from "./bytes.ts";

/** Returns the files that hold the folder's rows, in order. */
export function savedFiles(folder: string): readonly string[] {
  const state = join(folder, "state.json");
  if (!existsSync(state)) throw new PoolFileProblem(notSaved(folder));
  const { _data_files: files } = JSON.parse(readFileSync(state, "utf8")) as { readonly _data_files?: unknown };
  const names = (Array.isArray(files) ? files : []).map(
    (file: unknown) => (file as { readonly filename?: unknown } | null)?.filename,
  );
  const isName = (name: unknown): name is string => typeof name === "string" && !/[/\\]/.test(name);
  if (names.length === 0 || !names.every(isName))
    throw new PoolFileProblem("its state.json names no files of rows: save it again with save_to_disk");
  return names.map((name) => join(folder, name));
}

/** Maximum number of files that an error message lists. */
const NAMES_MAX = 5;

function notSaved(folder: string): string {
  const names = readdirSync(folder).sort();
  const saved = names.filter((name) => existsSync(join(folder, name, "state.json")));
  if (saved.length > 0)
    return `it is a folder of several splits: give one of them, ${saved.map((name) => join(folder, name)).join(" or ")}`;
  const files = names.filter((name) => /\.(?:jsonl?|parquet|arrow|csv|tsv)(?:\.gz|\.zst)?$/.test(name));
  if (files.length === 0) return "it is a folder, and none that datasets' save_to_disk wrote: it has no state.json";
  const shown = files.slice(0, NAMES_MAX).join(", ");
  return `it is a folder without state.json: give one of its files as a pool, ${shown}${files.length > NAMES_MAX ? ", …" : ""}`;
}
