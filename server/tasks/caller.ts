/**
 * Whose share of the workers some work comes out of. A server knows one token at most, so what tells callers apart is what
 * they ask for: a run has a share of its own, and so has the making of a suite; all else is shared by address, not by
 * connection, which would reward who opens many.
 */

export function runCaller(runId: string): string {
  return `run ${runId}`;
}

export function suiteCaller(digest: string): string {
  return `suite ${digest}`;
}

/** `peer` is an address and, after a colon, a port. */
export function peerCaller(peer: string): string {
  return `address ${peer.replace(/:\d+$/, "")}`;
}
