/**
 * Reports what changes when stored completions are scored again: tables by arm, and by arm and verdict. Names are those
 * of the files that `gradus rescore` writes.
 */

/** Completion with its scores before and now. Null: not known, or there is none. */
export interface RescoredSample<Name = unknown> {
  /** Name of the completion, by which a reader finds it. */
  readonly sample: Name;
  /** Arm of a run, or part of a suite. Empty: the report names the environment and the level instead. */
  readonly arm: string;
  readonly environment: string;
  readonly level: string;
  readonly reward_before: number | null;
  readonly reward: number | null;
  readonly verdict_before: string | null;
  readonly verdict: string | null;
  readonly solved_before: boolean | null;
  readonly solved: boolean | null;
  /** Reason why there is no reward now. */
  readonly no_reward: string | null;
}

/** Number of samples that are named as examples of a change. */
const EXAMPLES = 3;

export type RescoreReport<Name> = ReturnType<typeof reportOf<Name>>;

/** Returns means and counts for each arm, and for each kind of change of a verdict, the most frequent first. */
export function reportOf<Name>(rows: readonly RescoredSample<Name>[]) {
  const arms = groupsBy(rows, armOf).map((own) => ({
    arm: armOf(own[0]),
    ...meansOf(own),
    changed: own.filter(isChanged).length,
    without_reward: own.filter(({ reward }) => reward === null).length,
    solved_before: solvedOf(own.map((row) => row.solved_before)),
    solved: solvedOf(own.map(({ solved }) => solved)),
  }));
  const changes = groupsBy(rows.filter(isChanged), changeOf).map((alike) => {
    const [first] = alike;
    const [arm, from, to] = [armOf(first), wordsBefore(first), wordsNow(first)];
    return { arm, from, to, ...meansOf(alike), samples: alike.slice(0, EXAMPLES).map(({ sample }) => sample) };
  });
  return { arms, changes: changes.sort((a, b) => b.completions - a.completions) };
}

/** Groups items by their key, in the order in which the keys first occur. */
function groupsBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): readonly [Item, ...Item[]][] {
  const groups = new Map<string, [Item, ...Item[]]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return [...groups.values()];
}

/** Returns the arm of a completion, or its environment and level if it belongs to no arm. */
function armOf({ arm, environment, level }: RescoredSample): string {
  return arm === "" ? `${environment} ${level}`.trim() : arm;
}

/** Returns whether a new score differs from the earlier one. Values that were unknown before are not compared. */
function isChanged(row: RescoredSample): boolean {
  const pairs = [
    [row.reward_before, row.reward],
    [row.verdict_before, row.verdict],
    [row.solved_before, row.solved],
  ] as const;
  return pairs.some(([before, after]) => before !== null && !Object.is(before, after));
}

function meansOf(rows: readonly RescoredSample[]) {
  const before = meanOf(rows.map(({ reward_before: reward }) => reward));
  return { completions: rows.length, reward_before: before, reward: meanOf(rows.map(({ reward }) => reward)) };
}

function meanOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}

/** Returns how many completions are solved. Null: for none of them is it known. */
function solvedOf(values: readonly (boolean | null)[]): number | null {
  return values.every((value) => value === null) ? null : values.filter((value) => value === true).length;
}

const changeOf = (row: RescoredSample): string => JSON.stringify([armOf(row), wordsBefore(row), wordsNow(row)]);
const wordsBefore = (row: RescoredSample): string => verdictText(row.verdict_before, row.solved_before);
const wordsNow = (row: RescoredSample): string =>
  row.no_reward === null ? verdictText(row.verdict, row.solved) : `no reward: ${row.no_reward}`;

function verdictText(verdict: string | null, isSolved: boolean | null): string {
  return `${verdict ?? "unknown"}${isSolved === true ? ", solved" : ""}`;
}
