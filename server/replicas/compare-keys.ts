/**
 * Decides which servers of one store may go on when their signing keys differ, because they would refuse each other's
 * task ids.
 */
import { type Identity, keyDifferences } from "./identity.ts";

interface ReplicaKeys {
  readonly id: string;
  /** Time at which the server joined, by the store's clock, in milliseconds. */
  readonly sinceMs: number;
  readonly identity: Pick<Identity, "keys">;
}

/**
 * Returns how this server's keys differ from those of a server that goes on. Undefined: this server may go on. Servers
 * whose keys fit the most others come first, then older ones; each goes on if its keys fit all that already do.
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
      return `its keys are not those of replica ${by.id}: ${keyDifferences(own.identity, by.identity).join("; ")}`;
  }
  return undefined;
}
