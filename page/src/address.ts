/**
 * Reads and changes the address: the part of the URL behind "#". It holds the whole state of a view, so that a link
 * restores the view.
 */
import { signal } from "@preact/signals";

export interface Address {
  /** Parts of the path, e.g. ["tasks", "np", "tsp"]. */
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

/** Query parameters. Undefined and empty ones are left out of the address. */
export type Query = Readonly<Record<string, string | undefined>>;

export function readAddress(hash: string): Address {
  const [path = "", query = ""] = hash.replace(/^#?\/?/, "").split(/\?(.*)/s, 2);
  const parts = path.split("/").filter((part) => part !== "");
  return { path: parts.map(decoded), query: Object.fromEntries(new URLSearchParams(query)) };
}

/** Decodes a part, or returns it unchanged. A typed address may contain a "%" that begins no escape. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/**
 * Returns the entry of a table under a name from the address, if the table itself has it. The name may be any text,
 * also "constructor".
 */
export function named<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** Returns the link to a path and a query. An environment's id keeps its slashes. */
export function hrefOf(path: readonly string[], query: Query = {}): string {
  const parts = path.map((part) => part.split("/").map(encodeURIComponent).join("/"));
  const entries = Object.entries(query).filter((entry): entry is [string, string] => (entry[1] ?? "") !== "");
  const search = new URLSearchParams(entries).toString();
  return `#/${parts.join("/")}${search === "" ? "" : `?${search}`}`;
}

export const address = signal<Address>(readAddress(location.hash));

addEventListener("hashchange", () => {
  address.value = readAddress(location.hash);
});

export function go(href: string): void {
  location.hash = href;
}

/** Changes parts of the query without a new entry in the browser's history, so that typing a filter leaves no trail. */
export function refine(changes: Query): void {
  const { path, query } = address.value;
  const href = hrefOf(path, { ...query, ...changes });
  history.replaceState(null, "", href);
  address.value = readAddress(href);
}
