/**
 * Ends an exhaustive switch. A missing case does not compile. A value of an unknown kind at run time is a bug, and
 * throws.
 */
export function assertNever(value: never): never {
  throw new Error(`bug: no code handles this value: ${JSON.stringify(value)}`);
}
