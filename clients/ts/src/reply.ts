/** Helpers that read replies. */
import { GradusError } from "./errors.ts";

/** Returns a field of a reply that the contract promises. Throws INTERNAL if it is missing. */
export function present<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new GradusError("INTERNAL", `the server's reply has no ${name}`);
  return value;
}

/** Yields the items of all pages of a list. Each page is requested when the reader needs it. */
export async function* eachOfPages<Page extends { readonly nextPageToken: string }, Item>(
  read: (pageToken: string) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
): AsyncGenerator<Item, void, undefined> {
  let pageToken = "";
  do {
    const page = await read(pageToken);
    yield* itemsOf(page);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
}

/** Returns the items of all pages of a list. */
export async function allPages<Page extends { readonly nextPageToken: string }, Item>(
  read: (pageToken: string) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
): Promise<readonly Item[]> {
  const items: Item[] = [];
  for await (const item of eachOfPages(read, itemsOf)) items.push(item);
  return items;
}
