/** Where the reader is: the part of the address behind "#", which holds all of a view's state, so that a link gives it. */
import { signal } from "@preact/signals";

export interface Address {
  /** E.g. ["tasks", "np", "tsp"]. */
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

/** What is left out, or empty, is not in the address. */
export type Query = Readonly<Record<string, string | undefined>>;

export function readAddress(hash: string): Address {
  const [path = "", query = ""] = hash.replace(/^#?\/?/, "").split(/\?(.*)/s, 2);
  const parts = path.split("/").filter((part) => part !== "");
  return { path: parts.map(decoded), query: Object.fromEntries(new URLSearchParams(query)) };
}

/** Whoever types an address may leave a "%" in it that begins nothing. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** What a table has under a name that an address gives, which may be any text, "constructor" too. */
export function named<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** An environment's id keeps its slashes. */
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

/** Changes parts of the query in place: a filter that is typed leaves no trail of its letters behind. */
export function refine(changes: Query): void {
  const { path, query } = address.value;
  const href = hrefOf(path, { ...query, ...changes });
  history.replaceState(null, "", href);
  address.value = readAddress(href);
}
