/**
 * Draws in the independent reader (reader.ts): the groups that a draw folds in, and the faults that no sound draw has.
 */
import type { Drawn } from "../../proto/gen/gradus/internal/v1/run_pb.js";
import {
  type Data,
  UNSAID,
  type ReadTask,
  type ReadBatch,
  type ReadArm,
  type Config,
  type ReadRun,
  taskOf,
  freshGroup,
  rangeOf,
  wholeOf,
} from "./reader-state.ts";
import { checkRow, rememberReached } from "./reader-rows.ts";
import { type Reader, lastOf, takesFeedback, armsOf, isAverages, isOf, issue } from "./reading.ts";

/** The closed groups that a draw folds in, in order, with their update batches. */
function due(run: ReadRun, through: Data) {
  const ranges = through as readonly (readonly [number, number])[];
  const isDue = ({ index }: ReadBatch, cursor: number): boolean =>
    typeof through === "number"
      ? run.batchesFolded <= index && index < through
      : ranges.some(([first, last]) => first <= cursor && cursor <= last);
  return run.batches.flatMap((batch) =>
    batch.groups.flatMap((group, i) =>
      group.closed !== undefined && isDue(batch, batch.cursor + i) ? [{ batch, group, outcome: group.closed }] : [],
    ),
  );
}

/**
 * Folds closed groups in at a draw: marks them, and adds them to the arms and to the memory if the policy learns from
 * them.
 */
function fold({ hashOf, run }: Reader, through: Data): void {
  const late = run.config["lateFeedback"] as Config | undefined;
  for (const { batch, group, outcome } of due(run, through)) {
    if (typeof through !== "number") group.folded = true;
    const isLate = late !== undefined && run.batchesDrawn - 1 - batch.index > Number(late["batchesMax"]);
    if (!takesFeedback(run) || (isLate && late["weight"] === 0)) continue;
    const { count, sum, solved } = outcome;
    if (count === 0) continue;
    const arm = run.arms[group.arm] as ReadArm;
    const { folded } = arm;
    arm.folded = {
      groups: folded.groups + 1,
      count: folded.count + count,
      sum: folded.sum + sum,
      solved: solved === null || folded.solved === null ? null : folded.solved + solved,
    };
    if (run.memory === null || solved === null) continue;
    const hash = hashOf(group.key);
    const before = run.memory.get(hash) ?? 0;
    const now = solved === count ? -1 : solved > 0 ? 0 : Math.max(0, before) + 1;
    if (now !== before) run.memory.set(hash, now);
  }
  if (typeof through === "number") run.batchesFolded = through;
}

/** Checks the number of a draw's tasks, and how many of them are to train on. */
function checkSize({ run, faults }: Reader, tasks: number, prompts: number): void {
  const { config } = run;
  const sampling = config["dynamicSampling"] as Config | undefined;
  const length = Number(config["length"]);
  const expected = Math.min(Number(config["promptsPerUpdate"]), length === 0 ? Infinity : length - run.prompts);
  const slots = Math.ceil(expected * Number(sampling?.["oversampleMax"] ?? 1));
  if (prompts !== expected || tasks !== slots)
    faults.push(`batch ${run.batchesDrawn} has ${prompts} prompts and ${tasks} tasks, not ${expected} and ${slots}`);
}

type Growth = { readonly start: number; readonly step: number; readonly cap: number } | undefined;

function growthOf({ config }: ReadRun, arm: number): Growth {
  return armsOf(config)[arm]?.["grow"] as unknown as Growth;
}

function levelsOf(growth: Growth): number {
  return growth === undefined ? 1 : Math.floor((growth.cap - growth.start) / growth.step) + 1;
}

/** Returns a task's level and its number within the level. Undefined: the arm does not grow. */
function placeOf(run: ReadRun, { arm, ordinal }: ReadTask): readonly [level: number | undefined, number: number] {
  if (growthOf(run, arm) === undefined) return [undefined, ordinal];
  return [Math.floor(ordinal / 2 ** 32), ordinal % 2 ** 32];
}

/** Counts a drawn task of its arm, or of its level. */
function advance(run: ReadRun, task: ReadTask): void {
  const arm = run.arms[task.arm] as ReadArm;
  const [level, number] = placeOf(run, task);
  if (level === undefined) return void (arm.nextOrdinal = number + 1);
  while (arm.nextInLevels.length <= level) arm.nextInLevels.push(0);
  arm.nextInLevels[level] = number + 1;
}

/** Returns the knowledge about each arm in the state of a frontier: six numbers, or those of the levels and the top. */
function knownArms(policyState: Data): readonly Data[] {
  const { arms = policyState } = policyState as Config;
  return arms as readonly Data[];
}

/** Returns the highest open level of each growing arm by its value, and 0 for the others. Empty: no arm grows. */
function frontiersOf(run: ReadRun, policyState: Data): Data {
  const growths = armsOf(run.config).map((_, arm) => growthOf(run, arm));
  if (growths.every((growth) => growth === undefined)) return [];
  return growths.map((growth, arm) => {
    const { top = 0 } = knownArms(policyState)[arm] as { readonly top?: number };
    return growth === undefined ? 0 : growth.start + growth.step * Math.min(top, levelsOf(growth) - 1);
  });
}

/** Applies a stored change to a policy's state: null, {as}, {at, to} for lists, or {of} for the fields of objects. */
function changed(before: Data, change: Data): Data {
  if (change === null) return before;
  const { as, at, to, of } = change as Config;
  if (as !== undefined) return as;
  if (at === undefined) {
    const fields = Object.entries((of ?? {}) as Config);
    return {
      ...(before as Config),
      ...Object.fromEntries(fields.map(([name, each]) => [name, changed((before as Config)[name] ?? null, each)])),
    };
  }
  const items = [...(before as readonly Data[])];
  for (const [i, place] of (at as readonly number[]).entries())
    items[place] = changed(items[place] ?? null, (to as readonly Data[])[i] ?? null);
  return items;
}

function checkDrawn(reader: Reader, cursor: number, task: ReadTask, restarts: boolean, here: Set<string>): void {
  const { run, faults, hashOf } = reader;
  const fault = (what: string): void => void faults.push(`task ${cursor} ${what}`);
  const arm = run.arms[task.arm] as ReadArm;
  if (armsOf(run.config)[task.arm]?.["removed"] === true) fault("is of an arm that was removed");
  else if (run.weights[task.arm] === 0) fault("is of an arm of weight 0");
  if (run.masks[task.arm] !== null) fault("is of an arm that is masked");
  const [level, number] = placeOf(run, task);
  const next = level === undefined ? arm.nextOrdinal : (arm.nextInLevels[level] ?? 0);
  if (!restarts && number < next) fault("is drawn again");
  if (level !== undefined && level >= levelsOf(growthOf(run, task.arm)))
    fault(`is of level ${level}, which the arm lacks`);
  checkRow(reader, task, fault);
  const hash = hashOf(task.key);
  if (task.repeat !== (here.has(hash) || run.issued.some((hashes) => hashes.has(hash))))
    fault("is a repeat, or is not, wrongly");
  here.add(hash);
}

function valuesOf({ policy, arms }: ReadRun, policyState: Data): Data {
  // A frontier's value is made of the first two averages that it keeps: m, as the contract defines it.
  if (isOf(policy, "frontier"))
    return knownArms(policyState).map((known) => {
      const { top = 0, levels = [known] } = known as { readonly top?: number; readonly levels?: readonly Data[] };
      const [success, count] = (levels[top] ?? [0, 0]) as readonly [number, number];
      return count > 0 ? (success + 0.15) / (count + 0.3) : 0;
    });
  if (!isOf(policy, "bandit")) return arms.map(() => 0);
  return isAverages(policy) ? policyState : UNSAID;
}

export function drawn(reader: Reader, message: Drawn): void {
  const { run, faults } = reader;
  const { batch: index, atMs, cursor, prompts, restarts } = message;
  const probabilities = wholeOf(message.probabilities);
  const policyState =
    message.policyChanges === ""
      ? (JSON.parse(message.policyState) as Data)
      : changed(run.policyState, JSON.parse(message.policyChanges) as Data);
  const through = message.fold?.batches ?? message.fold?.ranges.map(rangeOf) ?? null;
  const tasks = message.tasks.map(taskOf);
  if (index !== run.batchesDrawn || cursor !== run.cursor)
    faults.push(`batch ${index} is drawn at ${cursor}, after ${run.batchesDrawn} at ${run.cursor}`);
  const sum = probabilities.reduce((total, share) => total + share, 0);
  if (Math.abs(sum - 1) > 1e-9) faults.push(`the probabilities of batch ${run.batchesDrawn} make ${sum}`);
  checkSize(reader, tasks.length, prompts);
  fold(reader, through);
  const generations = Number(run.config["numGenerations"]);
  const here = new Set<string>();
  if (restarts) {
    rememberReached(run);
    reader.inPass.clear();
    for (const arm of run.arms) Object.assign(arm, { nextOrdinal: 0, nextInLevels: [] });
  }
  for (const [i, task] of tasks.entries()) {
    checkDrawn(reader, run.cursor + i, task, restarts, here);
    advance(run, task);
    if (i >= prompts) continue;
    issue(run, task);
    lastOf(reader).tasks.set(run.cursor + i, task);
  }
  if (restarts) run.issued = [run.issued[1], new Set()];
  for (const hash of here) run.issued[1].add(hash);
  lastOf(reader).prompts.set(run.batchesDrawn, prompts);
  run.batches.push({
    index,
    cursor: run.cursor,
    seq: run.nextSeq,
    epoch: run.epoch,
    drawnAtMs: atMs,
    probabilities,
    values: valuesOf(run, policyState),
    frontiers: frontiersOf(run, policyState),
    prompts,
    generations,
    groups: tasks.slice(0, prompts).map((task) => freshGroup(task, generations)),
    reserve: tasks.slice(prompts),
  });
  run.cursor += tasks.length;
  run.prompts += prompts;
  run.batchesDrawn++;
  run.nextSeq++;
  Object.assign(run, { probabilities, policyState });
}
