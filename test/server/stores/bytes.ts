/** Bodies of events and snapshots in the tests of stores, which do not interpret them. */
export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
