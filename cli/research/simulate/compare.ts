/** A run's configuration and the uniform mixture over the same simulated students. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { deriveSeed } from "../../../envs/lib/rng.ts";
import type { RunConfig } from "../../../server/curriculum/core/types.ts";
import { drive, type Step } from "../../../server/curriculum/simulation/drive.ts";
import { type Life, lifeOf } from "../../../server/curriculum/simulation/life.ts";
import { equalShares } from "../../../server/curriculum/simulation/simulated-run.ts";
import { bootstrap, type Interval, mean, median } from "../../../server/curriculum/simulation/statistics.ts";
import type { Family, Place } from "../../../server/curriculum/simulation/student.ts";
import type { Series, Step as ChartStep } from "../../runs/series.ts";

const STEPS_A_TURN = 10;

export interface Asked<Spec> {
  readonly config: RunConfig<Spec>;
  readonly family: Family;
  readonly places: readonly Place[];
  readonly updates: number;
  readonly seeds: number;
  /** The mean success that counts as arrived; undefined: the student's. */
  readonly target: number | undefined;
  readonly onRun: () => void;
}

export interface Side {
  readonly lives: readonly Life[];
  /** Median; Infinity: most never arrived. */
  readonly rollouts: number;
  readonly lost: number;
  readonly final: number;
  readonly wasted: number;
  readonly useful: number;
}

export interface ArmFigures {
  readonly id: string;
  readonly share: number;
  readonly success: number;
  readonly uniformSuccess: number;
  readonly learnable: boolean;
}

export interface Comparison {
  readonly given: Side;
  readonly uniform: Side;
  /** Of median rollouts; NaN: both are lost. */
  readonly ratio: Interval & { readonly value: number };
  readonly arms: readonly ArmFigures[];
  readonly series: Series;
}

function sideOf(lives: readonly Life[]): Side {
  return {
    lives,
    rollouts: median(lives.map(({ rolloutsToTarget }) => rolloutsToTarget ?? Infinity)),
    lost: lives.filter(({ rolloutsToTarget }) => rolloutsToTarget === null).length,
    final: mean(lives.map(({ final }) => final)),
    wasted: mean(lives.map(({ wasted }) => wasted)),
    useful: mean(lives.map(({ useful }) => useful)),
  };
}

/** The mean over students of what each update batch drew, a step for some batches. */
function seriesOf<Spec>(
  { config, places }: Pick<Asked<Spec>, "config" | "places">,
  runs: readonly (readonly Step[])[],
  stepsMax: number,
): Series {
  const batches = runs[0]?.length ?? 0;
  const each = Math.max(1, Math.ceil(batches / stepsMax));
  const counts = (steps: readonly Step[], arm: number): number =>
    steps.reduce((sum, step) => sum + (step.counts[arm] ?? 0), 0);
  const arms = [...config.arms.keys()];
  const steps: ChartStep[] = [];
  for (let from = 0; from < batches; from += each) {
    const here = runs.flatMap((run) => run.slice(from, from + each));
    const tasks = arms.reduce((sum, arm) => sum + counts(here, arm), 0);
    const samples = tasks * config.numGenerations;
    steps.push({
      cursor: from * config.promptsPerUpdate,
      tasks: tasks / runs.length,
      shares: arms.map((arm) => (tasks === 0 ? 0 : counts(here, arm) / tasks)),
      probabilities: arms.map((arm) => mean(here.map(({ probabilities }) => probabilities[arm] ?? 0))),
      values: arms.map(() => 0),
      rewardMean: undefined,
      solvedShare: here.reduce((sum, { solved }) => sum + solved, 0) / samples,
    });
  }
  const drawn = arms.map((arm) => counts(runs.flat(), arm) / runs.length);
  const families = places.map(({ family }) => family);
  const tasks = drawn.reduce((sum, count) => sum + count, 0);
  return { arms: config.arms.map(({ id }) => id), families, steps, changes: [], tasks, drawn };
}

export async function compare<Spec>(asked: Asked<Spec>, stepsMax: number): Promise<Comparison> {
  const { config, family, places, updates, seeds, target, onRun } = asked;
  const names = Array.from({ length: seeds }, (_, i) => `simulate/${i}`);
  const live = async (of: RunConfig<Spec>, name: string) => {
    const created = family.create(name, places);
    const student = { ...created, target: target ?? created.target };
    const seed = deriveSeed("simulate", config.seed, name);
    const steps: Step[] = [];
    for (const step of drive({ ...of, seed, length: updates * of.promptsPerUpdate }, student, name)) {
      steps.push(step);
      // So that a signal is heard, a killed launcher is missed and the bar is drawn while students live.
      if (steps.length % STEPS_A_TURN === 0) await nextTurn();
    }
    onRun();
    return { steps, life: lifeOf(steps, student, of.numGenerations), learnable: student.learnable };
  };
  const play = async (of: RunConfig<Spec>) => {
    const lives = [];
    for (const name of names) lives.push(await live(of, name));
    return lives;
  };
  const [given, uniform] = [await play(config), await play(equalShares(config))];
  const rolloutsAt = (runs: typeof given, at: readonly number[]): number =>
    median(at.map((i) => runs[i]?.life.rolloutsToTarget ?? Infinity));
  const ratio = (at: readonly number[]): number => rolloutsAt(given, at) / rolloutsAt(uniform, at);
  const successAt = (runs: typeof given, arm: number): number =>
    mean(runs.map(({ steps }) => steps.at(-1)?.success[arm] ?? 0));
  const series = seriesOf(
    asked,
    given.map(({ steps }) => steps),
    stepsMax,
  );
  return {
    given: sideOf(given.map(({ life }) => life)),
    uniform: sideOf(uniform.map(({ life }) => life)),
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
