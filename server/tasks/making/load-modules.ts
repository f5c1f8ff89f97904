/** Modules of the operator's own code. They run in this process with all its rights. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { readTextFile } from "../../runtime/files.ts";

/** Items of modules that a flag names, and what each module's default export must be. */
export interface ModuleItems<Item> {
  readonly flag: string;
  /** Names that Gradus itself has taken. */
  readonly taken: readonly string[];
  /** The items in a default export, or what is wrong with it. */
  readonly read: (value: unknown) => readonly Item[] | string;
  /** Names an item in messages. No two items have one name. */
  readonly nameOf: (item: Item) => string;
  /** The key by which two items are the same. */
  readonly another: string;
}

/** Loads modules whose default exports are lists; gives all their items. */
export async function loadItems<Item>(
  paths: readonly string[],
  { flag, taken, read, nameOf, another }: ModuleItems<Item>,
): Promise<
  { readonly kind: "ok"; readonly items: readonly Item[] } | { readonly kind: "invalid"; readonly message: string }
> {
  const places = new Map(taken.map((name) => [name, "Gradus itself"]));
  const items: Item[] = [];
  for (const path of paths) {
    const loaded = await defaultExportOf(path);
    const found = typeof loaded === "string" ? loaded : read(loaded.value);
    if (typeof found === "string") return { kind: "invalid", message: `${flag} ${path}: ${found}` };
    for (const item of found) {
      const [name, place] = [nameOf(item), places.get(nameOf(item))];
      if (place !== undefined) {
        const message = `${flag}: ${name} is both in ${place} and in ${path}; give one of them another ${another}`;
        return { kind: "invalid", message };
      }
      places.set(name, path);
      items.push(item);
    }
  }
  return { kind: "ok", items };
}

/** A module's default export, or why it cannot be loaded. */
async function defaultExportOf(path: string): Promise<{ readonly value: unknown } | string> {
  try {
    // To import a FIFO would wait for ever.
    readTextFile(resolve(path));
    const { default: value } = (await import(pathToFileURL(resolve(path)).href)) as { readonly default?: unknown };
    return { value };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return `the module cannot be loaded (${why})`;
  }
}
