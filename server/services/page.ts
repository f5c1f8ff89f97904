/** Pages of lists: the token is the key after which the next page begins. */
import { checkBytes, checkRange, invalid } from "../rpc/check.ts";

export interface PageRequest {
  readonly pageSize: number;
  readonly pageToken: string;
}

export interface Page {
  readonly size: number;
  /** Undefined: from the start. */
  readonly after: string | undefined;
}

const TOKEN_BYTES_MAX = 512;

export function readPage(request: PageRequest, defaultSize: number, max: number): Page {
  checkBytes(request.pageToken, TOKEN_BYTES_MAX, "page_token");
  const size = request.pageSize === 0 ? defaultSize : checkRange(request.pageSize, 1, max, "page_size");
  if (request.pageToken === "") return { size, after: undefined };
  const after = Buffer.from(request.pageToken, "base64url").toString();
  if (pageToken(after) !== request.pageToken) throw invalid("page_token", "it is not one that this server gave");
  return { size, after };
}

export function pageToken(after: string): string {
  return Buffer.from(after).toString("base64url");
}

/** A page of items that are sorted by their keys. */
export function pageOf<T>(items: readonly T[], keyOf: (item: T) => string, page: Page) {
  const start = page.after === undefined ? 0 : items.findIndex((item) => keyOf(item) > (page.after ?? ""));
  const rest = start < 0 ? [] : items.slice(start);
  const shown = rest.slice(0, page.size);
  const last = shown.at(-1);
  return {
    items: shown,
    nextPageToken: rest.length > shown.length && last !== undefined ? pageToken(keyOf(last)) : "",
  };
}
