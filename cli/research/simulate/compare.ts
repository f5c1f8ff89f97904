/** Compares a run's configuration with equal shares of all arms, on the same simulated students. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { RunConfig } from "../../../server/curriculum/types.ts";
import { drive, type Step } from "../../../server/simulation/drive-run.ts";
import {
  type SimulatedOutcome,
  createOutcomeCounter,
  createPointCounter,
  type Point,
} from "../../../server/simulation/simulated-outcome.ts";
import { equalShares, simulatedRun } from "../../../server/simulation/simulated-run.ts";
import { bootstrap, mean, median } from "../../../server/simulation/statistics.ts";
import type { Family, ArmPosition } from "../../../server/simulation/student.ts";
import { CliProblem } from "../../problem.ts";
import type { Series, Step as ChartStep } from "../../runs/series.ts";

const STEPS_A_TURN = 10;

const NOTHING_TO_LEARN =
  "--student: the student can learn none of the run's arms, so it cannot reach a target: choose another student, or give the run more arms";

export interface ComparedRun<Spec> {
  readonly config: RunConfig<Spec>;
  readonly family: Family;
  readonly places: readonly ArmPosition[];
  readonly updates: number;
  readonly seeds: number;
  /** Mean success rate that students must reach. Defaults to the target of the student itself. */
  readonly target: number | undefined;
  readonly onRun: () => void;
}

export interface Side extends Omit<SimulatedOutcome, "rolloutsToTarget" | "successMean"> {
  readonly lives: readonly SimulatedOutcome[];
  /** Median number of rollouts to the target. Infinity if at least half of the students never reached it. */
  readonly rollouts: number;
  readonly lost: number;
}

export type Comparison = Awaited<ReturnType<typeof compare>>;

function sideOf(lives: readonly SimulatedOutcome[]): Side {
  return {
    lives,
    rollouts: median(lives.map(({ rolloutsToTarget }) => rolloutsToTarget ?? Infinity)),
    lost: lives.filter(({ rolloutsToTarget }) => rolloutsToTarget === null).length,
    final: mean(lives.map(({ final }) => final)),
    wasted: mean(lives.map(({ wasted }) => wasted)),
    useful: mean(lives.map(({ useful }) => useful)),
  };
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/**
 * Returns the data of the chart: the tasks drawn from each arm, as means over all simulated students. Each step covers
 * `each` update batches.
 */
function seriesOf<Spec>({ config, places, seeds }: ComparedRun<Spec>, points: readonly Point[], each: number): Series {
  const steps = points.map(({ tasks, counts, probabilities, solvedShare }, i): ChartStep => ({
    cursor: i * each * config.promptsPerUpdate,
    tasks: tasks / seeds,
    shares: counts.map((count) => (tasks === 0 ? 0 : count / tasks)),
    probabilities,
    values: counts.map(() => 0),
    frontiers: counts.map(() => undefined),
    rewardMean: undefined,
    solvedShare,
  }));
  const drawn = config.arms.map((_, arm) => sumOf(points.map(({ counts }) => counts[arm] ?? 0)) / seeds);
  const families = places.map(({ family }) => family);
  const arms = config.arms.map(({ id }) => id);
  return { arms, families, growth: [], steps, changes: [], tasks: sumOf(drawn), drawn };
}

export async function compare<Spec>(asked: ComparedRun<Spec>, stepsMax: number) {
  const { config, family, places, updates, seeds, target, onRun } = asked;
  const names = Array.from({ length: seeds }, (_, i) => `simulate/${i}`);
  const each = Math.max(1, Math.ceil(updates / stepsMax));
  const live = async (of: RunConfig<Spec>, name: string, onStep: (step: Step, batch: number) => void) => {
    const created = family.create(name, places);
    const student = { ...created, target: target ?? created.target };
    if (!student.learnable.includes(true)) throw new CliProblem("usage", NOTHING_TO_LEARN);
    const counter = createOutcomeCounter(student, of.numGenerations);
    let batches = 0;
    let success: readonly number[] = [];
    for (const step of drive(simulatedRun(of, name, updates), student, name)) {
      counter.add(step);
      onStep(step, batches++);
      ({ success } = step);
      // Pause, so that signals are handled, the check for a killed npx runs, and the progress bar is drawn.
      if (batches % STEPS_A_TURN === 0) await nextTurn();
    }
    onRun();
    return { success, life: counter.life(), learnable: student.learnable };
  };
  const play = async (of: RunConfig<Spec>, onStep: (step: Step, batch: number) => void) => {
    const lives = [];
    for (const name of names) lives.push(await live(of, name, onStep));
    return lives;
  };
  const drawn = createPointCounter(config.numGenerations, each);
  const given = await play(config, (step, batch) => drawn.add(batch, step));
  const uniform = await play(equalShares(config), () => undefined);
  const rolloutsAt = (runs: typeof given, at: readonly number[]): number =>
    median(at.map((i) => runs[i]?.life.rolloutsToTarget ?? Infinity));
  const ratio = (at: readonly number[]): number => rolloutsAt(given, at) / rolloutsAt(uniform, at);
  const successAt = (runs: typeof given, arm: number): number => mean(runs.map(({ success }) => success[arm] ?? 0));
  const series = seriesOf(asked, drawn.points(), each);
  return {
    given: sideOf(given.map(({ life }) => life)),
    uniform: sideOf(uniform.map(({ life }) => life)),
    /**
     * Median number of rollouts to the target with the configuration, divided by the median with equal shares. NaN if
     * neither side reached the target.
     */
    ratio: { value: ratio([...names.keys()]), ...bootstrap(seeds, ratio, "simulate") },
    arms: config.arms.map(({ id }, arm) => ({
      id,
      share: (series.drawn[arm] ?? 0) / series.tasks,
      success: successAt(given, arm),
      uniformSuccess: successAt(uniform, arm),
      learnable: given.every((run) => run.learnable[arm] === true),
    })),
    series,
  };
}
