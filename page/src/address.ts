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

/** Query parameters. A parameter that is undefined or empty is left out of the address. */
export type Query = Readonly<Record<string, string | undefined>>;

export function readAddress(hash: string): Address {
  const [path = "", query = ""] = hash.replace(/^#?\/?/, "").split(/\?(.*)/s, 2);
  const parts = path.split("/").filter((part) => part !== "");
  return { path: parts.map(decoded), query: Object.fromEntries(new URLSearchParams(query)) };
}

/**
 * Decodes one part of the path. Returns it unchanged if it is invalid, since a typed address may contain a stray "%".
 */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/**
 * Returns the table's entry for a name from the address, or undefined. The name may be any text, even "constructor", so
 * inherited properties do not count.
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

/**
 * Changes some query parameters without a new entry in the browser's history. So typing a filter does not fill the
 * history.
 */
export function refine(changes: Query): void {
  const { path, query } = address.value;
  const href = hrefOf(path, { ...query, ...changes });
  history.replaceState(null, "", href);
  address.value = readAddress(href);
}
