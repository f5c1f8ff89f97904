/**
 * Decides which of the servers that share a store may serve, if their signing keys differ: they would refuse each
 * other's task ids.
 */
import { type Identity, keyDifferences } from "./identity.ts";

interface ReplicaKeys {
  readonly id: string;
  /** Time at which the server joined, by the store's clock, in milliseconds since the Unix epoch. */
  readonly sinceMs: number;
  readonly identity: Pick<Identity, "keys">;
}

/**
 * Returns how this server's keys conflict with those of servers that may serve. Undefined: this server may serve.
 *
 * Servers are tried in order: those whose keys fit most others first, then the older ones. Each may serve if its keys
 * fit all servers chosen before it.
 */
export function keyTrouble(own: ReplicaKeys, others: readonly ReplicaKeys[]): string | undefined {
  const all = [own, ...others];
  const unlike = (one: ReplicaKeys): readonly ReplicaKeys[] =>
    all.filter((other) => keyDifferences(one.identity, other.identity).length > 0);
  const ordered = all
    .map((one) => ({ one, unlike: unlike(one) }))
    .sort(
      (a, b) => a.unlike.length - b.unlike.length || a.one.sinceMs - b.one.sinceMs || (a.one.id < b.one.id ? -1 : 1),
    );
  const goesOn: ReplicaKeys[] = [];
  for (const { one, unlike } of ordered) {
    const by = goesOn.find((other) => unlike.includes(other));
    if (by === undefined) goesOn.push(one);
    else if (one === own)
      return `this server's keys differ from those of replica ${by.id}: ${keyDifferences(own.identity, by.identity).join("; ")}`;
  }
  return undefined;
}
