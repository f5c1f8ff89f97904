/** Reading replies. */
import { GradusError } from "./errors.ts";

/** A part of a reply that the contract promises. */
export function present<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new GradusError("INTERNAL", `the server's reply has no ${name}`);
  return value;
}

/** Reads all pages of a list. */
export async function allPages<Page extends { readonly nextPageToken: string }, Item>(
  read: (pageToken: string) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
): Promise<readonly Item[]> {
  const items: Item[] = [];
  let pageToken = "";
  do {
    const page = await read(pageToken);
    items.push(...itemsOf(page));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return items;
}
