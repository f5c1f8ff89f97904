/**
 * A simulated run that keeps nothing: it draws, samples and folds as `drive` does, by the same functions and to the bit,
 * but without a state that could be written down. It judges policies over millions of groups; what looks back on
 * instances (a filter, ranks, a reserve) is refused, and left to `drive`.
 */
import { rngFor } from "../../envs/lib/rng.ts";
import { armClasses, assignSlots, drawableProbabilities, quotasOf } from "../../server/curriculum/constraints.ts";
import { observedGroup, signalOf } from "../../server/curriculum/observed-group.ts";
import { type GroupOutcome, outcomeOf } from "../../server/curriculum/signals.ts";
import type { Arm, RunConfig } from "../../server/curriculum/types.ts";
import type { ArmRecord, ObservedGroup, PolicyDefinition, View } from "../../server/curriculum/policies/policy.ts";
import { definitionOf, rankUsesOf } from "../../server/curriculum/policies/registry.ts";
import { type Group, keyOf, resultsOf, sampled, teaches } from "../../server/simulation/sampling.ts";
import { scoreOf, type Student } from "../../server/simulation/student.ts";

/** An update batch, in the words of `Step`. */
export interface LeanStep {
  readonly counts: readonly number[];
  readonly probabilities: readonly number[];
  readonly useful: number;
  readonly score: number;
}

/** An update batch whose groups are closed, and not yet folded in. */
type Closed = readonly { readonly observed: ObservedGroup; readonly outcome: GroupOutcome }[];

function refuseWhatLooksBack({ policy, dynamicSampling, lateFeedback, lag }: RunConfig): void {
  const looksBack = policy.filter !== undefined || dynamicSampling !== undefined || lateFeedback !== undefined;
  if (looksBack || rankUsesOf(policy).length > 0 || lag.kind === "unbounded")
    throw new Error("filters, ranks, reserves and feedback that comes late need the whole of a run: use drive");
}

/** What groups come to; those of right and wrong answers are made once for each number of right ones. */
function outcomes(): (arm: Arm, group: Group) => GroupOutcome {
  const known = new Map<number, GroupOutcome>();
  return (arm, group) => {
    const found = group.grades === undefined ? known.get(group.solved) : undefined;
    if (found !== undefined) return found;
    const results = resultsOf(arm, group).flatMap((result) => (result.kind === "reward" ? [result] : []));
    const quality = results.reduce((sum, result) => sum + (result.quality ?? Number(result.solved)), 0);
    const rewards = results.map(({ reward }) => reward);
    const outcome = outcomeOf(rewards, group.solved, quality, arm.rewardRange);
    if (group.grades === undefined) known.set(group.solved, outcome);
    return outcome;
  };
}

/** The policy's state, and what its view tells it of the arms. */
function memoryOf({ arms, policy, lag }: RunConfig, definition: PolicyDefinition) {
  const held = lag.kind === "batches" ? lag.count : 0;
  const waiting: Closed[] = [];
  const tallies = arms.map(() => ({ groups: 0, count: 0, sum: 0, solved: 0 }));
  let state: unknown = definition.initial(policy.config, arms.length, 0);
  const fold = (closed: Closed): void => {
    const groups = closed.map(({ observed }) => observed);
    state = definition.observe?.(policy.config, state, groups) ?? state;
    for (const { observed, outcome } of closed) {
      const tally = tallies[observed.arm] as (typeof tallies)[number];
      tally.groups++;
      tally.count += outcome.count;
      tally.sum += outcome.sum;
      tally.solved += outcome.solved ?? 0;
    }
  };
  return {
    close(closed: Closed): void {
      if (definition.takesFeedback) waiting.push(closed);
    },
    foldWhatIsDue(): void {
      while (waiting.length > held) fold(waiting.shift() as Closed);
    },
    pass(progress: View["progress"]) {
      const pass = definition.pass?.(policy.config, state, progress);
      state = pass?.state ?? state;
      return pass;
    },
    probabilities: (view: View): readonly number[] => definition.probabilities(policy.config, state, view),
    record(i: number, issued: number): ArmRecord {
      const { id, source, hard, weight } = arms[i] as Arm;
      const { groups, count, sum, solved } = tallies[i] as (typeof tallies)[number];
      const [rewardMean, solvedShare] = count > 0 ? [sum / count, solved / count] : [];
      return { id, source, hard, weight, issued, groups, rewardMean, solvedShare };
    },
  };
}

/** The slots of update batches, one after the other, as a run's core draws them. */
function drawing(config: RunConfig, memory: ReturnType<typeof memoryOf>) {
  const { arms, policy, promptsPerUpdate, length, seed } = config;
  const weights = arms.map(({ weight }) => weight);
  const masks = arms.map(() => null);
  const issued = arms.map(() => 0);
  const ordinals = arms.map(() => 0);
  return (batch: number) => {
    const cursor = batch * promptsPerUpdate;
    const progress = { batch, cursor, length, size: Math.min(promptsPerUpdate, length - cursor), promptsPerUpdate };
    const records = arms.map((_, i) => memory.record(i, issued[i] ?? 0));
    const pass = memory.pass(progress);
    const p = memory.probabilities({ progress, arms: records, rng: () => rngFor("policy", seed, batch) });
    const drawable = drawableProbabilities(policy, p, weights, masks);
    if (drawable === undefined) throw new Error("no arm can be drawn");
    const { probabilities, possible } = drawable;
    const quotas = quotasOf(policy.constraints, batch, progress.size);
    const rng = rngFor("draw", seed, pass?.batch ?? batch);
    const slots = assignSlots(armClasses(arms, possible), probabilities, quotas, progress.size, rng);
    if (pass?.restarts) ordinals.fill(0);
    const tasks = slots.map((arm) => {
      issued[arm] = (issued[arm] ?? 0) + 1;
      const ordinal = ordinals[arm] ?? 0;
      ordinals[arm] = ordinal + 1;
      return { arm, ordinal };
    });
    return { tasks, probabilities };
  };
}

/** As `drive`, for as long as its reader wants. */
export function* lean<Mind>(config: RunConfig, student: Student<Mind>, seed: string): Generator<LeanStep> {
  refuseWhatLooksBack(config);
  const { arms, policy, promptsPerUpdate, length } = config;
  const definition = definitionOf(policy);
  const signal = signalOf(definition, policy.config);
  const memory = memoryOf(config, definition);
  const draw = drawing(config, memory);
  const cameTo = outcomes();
  const luck = rngFor("drive", seed);
  const ranks = luck.int(0, 2 ** 31);
  let mind = student.initial;
  for (let batch = 0; batch * promptsPerUpdate < length; batch++) {
    memory.foldWhatIsDue();
    const { tasks, probabilities } = draw(batch);
    const given = tasks.map(({ arm, ordinal }) => ({ arm, key: keyOf(ranks, arm, ordinal) }));
    const groups = sampled(student, mind, given, config, luck);
    memory.close(
      groups.map((group, i) => {
        const { arm, key } = given[i] as (typeof given)[number];
        const place = { arm, hash: key.hash, rank: key.rank, weight: 1, probability: probabilities[arm] ?? 0 };
        const outcome = cameTo(arms[arm] as Arm, group);
        return { observed: observedGroup(arms[arm] as Arm, place, outcome, signal), outcome };
      }),
    );
    mind = student.learn(mind, groups);
    const counts = arms.map(() => 0);
    for (const { arm } of groups) counts[arm] = (counts[arm] ?? 0) + 1;
    yield { counts, probabilities, useful: groups.filter(teaches).length, score: scoreOf(student, mind) };
  }
}
