/** Loads modules of the operator's own code. They run with all rights of this process. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { readTextFile } from "../../runtime/files.ts";

/** Rules for the items that an option's modules export, e.g. environments for --environment-file. */
export interface ModuleItems<Item> {
  readonly flag: string;
  /** Names of items that ship with Gradus. A module must not use them. */
  readonly taken: readonly string[];
  /** Returns the items in a module's default export, or an error message. */
  readonly read: (value: unknown) => readonly Item[] | string;
  /** Returns the name of an item, which must be unique. Messages use it. */
  readonly nameOf: (item: Item) => string;
  /** Property to change if two items have the same name, as error messages advise, e.g. "id or version". */
  readonly another: string;
}

/** Loads modules whose default exports are lists. Returns all their items. */
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

/** Returns a module's default export, or an error message. */
async function defaultExportOf(path: string): Promise<{ readonly value: unknown } | string> {
  try {
    // Importing a FIFO would wait for ever. `readTextFile` refuses a FIFO with an error, so it is called first.
    readTextFile(resolve(path));
    const { default: value } = (await import(pathToFileURL(resolve(path)).href)) as { readonly default?: unknown };
    return { value };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return `the module cannot be loaded (${why})`;
  }
}
