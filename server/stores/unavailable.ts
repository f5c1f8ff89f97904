/** Failures of a store that may pass without a change to the server. */

/** The disk is full, the file is locked or cannot be reached: nothing was written, and a later attempt may succeed. */
export class StoreUnavailable extends Error {}

/**
 * SQLite's primary result codes of this kind: BUSY, LOCKED, READONLY, IOERR, FULL and CANTOPEN. Others are bugs, or a
 * file that is damaged. https://sqlite.org/rescode.html
 */
const MAY_PASS: readonly number[] = [5, 6, 8, 10, 13, 14];

function failureOf(error: unknown): unknown {
  const { errcode, message } = error as { readonly errcode?: number; readonly message: string };
  // The primary code is the lowest byte.
  const passing = errcode !== undefined && MAY_PASS.includes(errcode & 0xff);
  return passing ? new StoreUnavailable(message, { cause: error }) : error;
}

type Methods<S> = { readonly [K in keyof S]: (...args: never[]) => Promise<unknown> };

/** The same store, whose failures of SQLite are StoreUnavailable where they may pass. */
export function tellingUnavailable<S extends Methods<S>>(store: S): S {
  const methods = Object.entries(store as Methods<Record<string, unknown>>).map(([name, method]) => {
    const told = (...args: never[]): Promise<unknown> =>
      method(...args).catch((error: unknown) => {
        throw failureOf(error);
      });
    return [name, told] as const;
  });
  return Object.fromEntries(methods) as unknown as S;
}
