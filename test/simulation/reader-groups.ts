/** Groups in the independent reader (reader.ts): closing, releases from the reserve, and reopening. */
import type { Feedback, Reported } from "../../proto/gen/gradus/internal/v1/run_pb.js";
import {
  type ReadOutcome,
  type ReadGroup,
  type ReadArm,
  type ReadRun,
  outcomeOf,
  isUseless,
  areAlike,
  rangeAt,
  alikeOf,
  freshGroup,
  joinLengths,
  readLengths,
  samplesOf,
} from "./reader-state.ts";
import { countMalformed } from "./reader-malformed.ts";
import { type Reader, lastOf, batchAt, groupAt, issue } from "./reading.ts";

const RECENT_MAX = 256;

/** Closes a group, and counts it if it has a reward. */
function close(run: ReadRun, group: ReadGroup, outcome: ReadOutcome): void {
  group.closed = outcome;
  const { count, sum, solved } = outcome;
  const arm = run.arms[group.arm] as ReadArm;
  arm.lengths = joinLengths(arm.lengths, group.lengths);
  if (count === 0) return;
  arm.groups++;
  arm.recent = [...arm.recent, { count, sum, solved }].slice(-RECENT_MAX);
}

/** Releases one more task from the reserve for each group that closed useless. */
function release(reader: Reader): void {
  const { run } = reader;
  const alike = alikeOf(run.config);
  for (const batch of run.batches) {
    if (batch.reserve.length === 0) continue;
    const { groups, reserve, prompts, cursor, generations } = batch;
    const useless = groups.filter(({ closed }) => closed !== undefined && isUseless(closed, alike)).length;
    while (groups.length < prompts + useless) {
      const task = reserve.shift();
      if (task === undefined) break;
      lastOf(reader).tasks.set(cursor + groups.length, task);
      groups.push(freshGroup(task, generations));
      issue(run, task);
    }
  }
}

/** Counts the batches that are closed without a gap. */
function countClosed(run: ReadRun): void {
  const open = run.batches.find(
    ({ index, groups }) => index >= run.batchesClosed && groups.some(({ closed }) => closed === undefined),
  );
  run.batchesClosed = open?.index ?? run.batchesDrawn;
}

export function feedback(reader: Reader, { groups }: Feedback): void {
  const { run } = reader;
  const known = new Set(run.malformed.kinds);
  for (const { cursor, samples, lengths } of groups) {
    const group = groupAt(run, cursor);
    if (group !== undefined) group.lengths = joinLengths(group.lengths, readLengths(lengths));
    for (const { sample, digest, result } of samplesOf(samples)) {
      lastOf(reader).entries.push({ cursor, sample, digest, result });
      run.samplesRecorded++;
      if (group === undefined || group.closed !== undefined)
        reader.faults.push(`sample ${sample} of ${cursor} is recorded although its group is not open`);
      else if (group.digests[sample] !== null) reader.faults.push(`sample ${sample} of ${cursor} is counted twice`);
      else [group.digests[sample], group.results[sample]] = [digest, result];
    }
    for (const sample of samples) {
      const fault = (what: string): void => void reader.faults.push(`sample ${sample.index} of ${cursor} ${what}`);
      run.malformed = countMalformed(run.malformed, sample, (kind) => !known.has(kind), fault);
    }
    if (group !== undefined && group.closed === undefined && group.results.every((result) => result !== null))
      close(run, group, outcomeOf(group.results, rangeAt(run.config, group.arm)));
  }
  release(reader);
  countClosed(run);
}

export function reported(reader: Reader, { groups }: Reported): void {
  for (const { cursor, advantages, rewardMean: mean = null } of groups) {
    lastOf(reader).reported.push([cursor, advantages, mean]);
    const count = mean === null ? 0 : Math.max(1, advantages.length);
    reader.run.samplesRecorded += advantages.length;
    const group = groupAt(reader.run, cursor);
    if (group?.closed !== undefined) reader.faults.push(`advantages of ${cursor} are counted although it is closed`);
    else if (group === undefined) reader.faults.push(`advantages of ${cursor} are counted although it is in reserve`);
    else {
      const sizes = advantages.map(Math.abs);
      const isNoise = areAlike([0, ...advantages], rangeAt(reader.run.config, group.arm));
      const total = isNoise ? 0 : sizes.reduce((sum, size) => sum + size, 0);
      const advantage = sizes.length === 0 ? null : total / sizes.length;
      close(reader.run, group, { count, sum: count * (mean ?? 0), solved: null, deviation: null, advantage });
    }
  }
  release(reader);
  countClosed(reader.run);
}

export function closed(reader: Reader, cursors: readonly number[]): void {
  for (const cursor of cursors) {
    lastOf(reader).closed.push(cursor);
    const group = groupAt(reader.run, cursor);
    if (group === undefined || group.closed !== undefined) reader.faults.push(`${cursor} is closed and was not open`);
    else close(reader.run, group, outcomeOf(group.results, rangeAt(reader.run.config, group.arm)));
  }
  release(reader);
  countClosed(reader.run);
}

/** Reopens groups with their results, and subtracts these from the arms' counts. */
export function reopened(reader: Reader, cursors: readonly number[], atMs: number): void {
  const { run, faults } = reader;
  for (const cursor of cursors) {
    lastOf(reader).reopened.push(cursor);
    const batch = batchAt(run, cursor);
    const group = groupAt(run, cursor);
    const outcome = group?.closed;
    if (batch === undefined || group === undefined || outcome === undefined) {
      faults.push(`${cursor} is opened again although it was open`);
      continue;
    }
    if (!group.results.includes(null)) faults.push(`${cursor} is opened again although it is whole`);
    const isFolded = run.config["lagBatches"] === undefined ? group.folded : batch.index < run.batchesFolded;
    if (isFolded) faults.push(`${cursor} is opened again although a draw has folded it in`);
    Object.assign(group, { closed: undefined, handedOutAtMs: atMs });
    run.batchesClosed = Math.min(run.batchesClosed, batch.index);
    const arm = run.arms[group.arm] as ReadArm;
    arm.lengths = joinLengths(arm.lengths, group.lengths, -1);
    if (outcome.count === 0) continue;
    const at = arm.recent.findLastIndex(
      ({ count, sum, solved }) => count === outcome.count && sum === outcome.sum && solved === outcome.solved,
    );
    arm.groups--;
    arm.recent = arm.recent.filter((_, i) => i !== at);
  }
}
