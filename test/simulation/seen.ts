/**
 * Compares what trainers of real servers saw, and their runs' states, with the same runs on an undisturbed server.
 * The two must be equal to the bit.
 */
import { isDeepStrictEqual } from "node:util";
import { readState } from "./reader-state.ts";

/** Record of the tasks and responses that trainers received. */
export interface Seen {
  /** Everything about a task that must not depend on the server, by run and cursor. */
  readonly tasks: Map<string, string>;
  /** Reward, or the reason why there is none, by run, cursor and sample. */
  readonly rewards: Map<string, string>;
  /** The state between two update batches, without times and names, by run and number of drawn batches. */
  readonly states: Map<string, unknown>;
  /** The next cursor of a trainer, by run and trainer. */
  readonly cursors: Map<string, bigint>;
  readonly violations: Set<string>;
  /** Samples that a server acknowledged, by their group. */
  readonly recorded: Set<string>;
  /** Time of a run's last acknowledged sample. */
  readonly lastAtMs: Map<string, number>;
  /** Longest time without an acknowledged sample of a run, in milliseconds. */
  gapMs: number;
  samples: number;
  replies: number;
  onReply: () => void;
  onSample: () => void;
}

/** Returns an empty record. */
export const newSeen = (): Seen => ({
  tasks: new Map(),
  rewards: new Map(),
  states: new Map(),
  cursors: new Map(),
  violations: new Set(),
  recorded: new Set(),
  lastAtMs: new Map(),
  gapMs: 0,
  samples: 0,
  replies: 0,
  onReply: () => undefined,
  onSample: () => undefined,
});

/** Notes a value that must be equal each time it is seen. */
export function note(seen: Seen, kind: "tasks" | "rewards", name: string, is: string): void {
  const was = seen[kind].get(name) ?? is;
  if (was !== is) seen.violations.add(`${kind} ${name} was "${was}" and is "${is}"`);
  seen[kind].set(name, is);
}

type Timeless = ReturnType<typeof timeless>;

/** Returns the part of a state that does not depend on when anything happened. */
export function timeless(saved: Uint8Array) {
  const { batches, arms, lists, malformed, ...state } = readState(saved);
  const { runId: _id, version: _version, createdAtMs: _at, incarnations: _names, handedOut: _given, ...rest } = state;
  return {
    ...rest,
    lists: lists.map(({ loadedAtMs: _at, ...list }) => list),
    // The order in which samples came decides which of them a window has.
    malformed: { samples: malformed.samples, kinds: [...malformed.kinds].sort() },
    // Sorted, because the order is that in which groups became whole.
    arms: arms.map((arm) => ({ ...arm, recent: arm.recent.map((sums) => JSON.stringify(sums)).sort() })),
    batches: batches.map(({ drawnAtMs: _drawn, groups, ...batch }) => ({
      ...batch,
      groups: groups.map(({ handedOutAtMs: _handed, ...group }) => group),
    })),
  };
}

/**
 * Returns the part of a timeless state that does not depend on imports either.
 * Imports are counted, and keep the configuration of the run's creation.
 */
export function unimported({
  epoch: _epoch,
  rolledBack: _back,
  controlRolledBack: _control,
  configCreated: _created,
  nextSeq: _next,
  ...state
}: Timeless) {
  return { ...state, batches: state.batches.map(({ epoch: _of, seq: _at, ...batch }) => batch) };
}

/**
 * Returns the state without the order of closed groups: which were closed last depends on the speed of several
 * trainers.
 */
export function unordered(state: Pick<Timeless, "arms">): object {
  return { ...state, arms: state.arms.map((arm) => ({ ...arm, recent: arm.recent.length })) };
}

/**
 * Minimum share of the undisturbed run's states that can be compared. A kill may come between a batch and its note. If
 * a killed trainer asks again, it gets its tasks together with those that the reserve released meanwhile.
 */
const COMPARED_MIN = 0.8;

/**
 * Returns how the record differs from the undisturbed one, each in words. With `isRolledBack`, trainers that know
 * nothing go on at open groups, so nobody may have been told of a sample whose reply was lost.
 */
export function unlike(calm: Seen, stormy: Seen, isRolledBack = false): readonly string[] {
  const found = [...calm.violations, ...stormy.violations];
  for (const kind of ["tasks", "rewards"] as const)
    for (const name of new Set([...calm[kind].keys(), ...stormy[kind].keys()])) {
      const [one, other] = [calm[kind].get(name), stormy[kind].get(name)];
      if (isRolledBack && other === undefined) continue;
      if (one !== other) found.push(`${kind} ${name}: ${other ?? "none"}; undisturbed: ${one ?? "none"}`);
    }
  const both = [...calm.states].filter(([name]) => stormy.states.has(name));
  for (const [name, state] of both)
    for (const place of placesUnlike(state, stormy.states.get(name))) found.push(`the state of ${name}: ${place}`);
  if (both.length < COMPARED_MIN * calm.states.size || both.every(([name]) => !name.endsWith("/end")))
    found.push(`of ${calm.states.size} states only ${both.length} could be compared`);
  return found;
}

/** Returns the first few places at which two values differ. */
function placesUnlike(one: unknown, other: unknown, path = "it"): string[] {
  if (isDeepStrictEqual(one, other)) return [];
  if (!isObject(one) || !isObject(other)) return [`${path} is ${shown(other)}; undisturbed: ${shown(one)}`];
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return names.flatMap((name) => placesUnlike(one[name], other[name], `${path}.${name}`)).slice(0, 8);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function shown(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === "bigint" ? `${each}` : each)) ?? "nothing";
}
