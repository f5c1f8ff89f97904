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

function checkDrawn(reader: Reader, cursor: number, task: ReadTask, restarts: boolean, here: Set<string>): void {
  const { run, faults, hashOf } = reader;
  const fault = (what: string): void => void faults.push(`task ${cursor} ${what}`);
  const arm = run.arms[task.arm] as ReadArm;
  if (armsOf(run.config)[task.arm]?.["removed"] === true) fault("is of an arm that was removed");
  else if (run.weights[task.arm] === 0) fault("is of an arm of weight 0");
  if (run.masks[task.arm] !== null) fault("is of an arm that is masked");
  if (!restarts && task.ordinal < arm.nextOrdinal) fault("is drawn again");
  checkRow(reader, task, fault);
  const hash = hashOf(task.key);
  if (task.repeat !== (here.has(hash) || run.issued.some((hashes) => hashes.has(hash))))
    fault("is a repeat, or is not, wrongly");
  here.add(hash);
}

function valuesOf({ policy, arms }: ReadRun, policyState: Data): Data {
  // A frontier's value is made of the first two averages that it keeps: m, as the contract defines it.
  if (isOf(policy, "frontier")) {
    const ofArms = Array.isArray(policyState) ? policyState : (policyState as Config)["arms"];
    return (ofArms as readonly (readonly [number, number])[]).map(([success, count]) =>
      count > 0 ? (success + 0.15) / (count + 0.3) : 0,
    );
  }
  if (!isOf(policy, "bandit")) return arms.map(() => 0);
  return isAverages(policy) ? policyState : UNSAID;
}

export function drawn(reader: Reader, message: Drawn): void {
  const { run, faults } = reader;
  const { batch: index, atMs, cursor, prompts, restarts } = message;
  const probabilities = wholeOf(message.probabilities);
  const policyState = JSON.parse(message.policyState) as Data;
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
    for (const arm of run.arms) arm.nextOrdinal = 0;
  }
  for (const [i, task] of tasks.entries()) {
    checkDrawn(reader, run.cursor + i, task, restarts, here);
    (run.arms[task.arm] as ReadArm).nextOrdinal = task.ordinal + 1;
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
