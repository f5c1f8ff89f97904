/** Ends an exhaustive switch: a kind that it forgot does not compile, and one that slipped in from outside is a bug. */
export function assertNever(value: never): never {
  throw new Error(`unexpected kind: ${JSON.stringify(value)}`);
}
