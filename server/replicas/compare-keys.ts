/** Decides which servers of one store may continue when their keys differ: they would refuse each other's task ids. */
import { type Identity, keyDifferences } from "./identity.ts";

interface ReplicaKeys {
  readonly id: string;
  /** Time at which the server joined, by the store's clock, in milliseconds. */
  readonly sinceMs: number;
  readonly identity: Pick<Identity, "keys">;
}

/**
 * Returns how the keys of this server differ from the others', in words; undefined: this server may continue. The
 * server that agrees with the most others continues, the older one of two; so does each server that agrees with all
 * that continue.
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
