/**
 * Reports runs and their arms to Prometheus. To limit the number of metrics, only the most recently requested runs are
 * reported.
 */
import type { Registry } from "prom-client";
import { byName, gauge, one, registerSamples, type Sample } from "./sampled-metrics.ts";

export interface RunFigures {
  readonly runId: string;
  readonly cursor: number;
  readonly batchesDrawn: number;
  readonly groupsOutstanding: number;
  readonly samplesRecorded: number;
  readonly usefulShare: number | undefined;
  /**
   * Scored samples, and the malformed ones among them, in the last complete window of 200 samples. If the run ended
   * sooner, in all its samples. Null: not known yet.
   */
  readonly malformed: { readonly samples: number; readonly malformed: number } | null;
  readonly arms: readonly ArmFigures[];
}

export interface ArmFigures {
  readonly armId: string;
  readonly probability: number;
  readonly value: number;
  readonly issued: number;
  readonly recentSolvedShare: number | undefined;
  readonly recentRewardMean: number | undefined;
}

export const RUNS_MAX = 32;
/** Maximum number of reported arms over all runs. One run may have 256 arms. */
export const ARMS_MAX = 1024;

/**
 * Registers the metrics of runs. `recent` returns the most recently requested runs, newest first. `damaged` returns the
 * number of damaged runs.
 */
export function registerRuns(
  registry: Registry,
  runs: { recent(limit: number): Promise<readonly RunFigures[]>; damaged(): number },
): void {
  const help = "Runs that were found damaged when they were read, and still exist.";
  registerSamples(
    registry,
    gauge("gradus_runs_damaged", help, () => one(runs.damaged()), "max"),
  );
  // All metrics share one read of the runs, because Prometheus reads all metrics in one turn of the event loop.
  let looked: Promise<readonly RunFigures[]> | undefined;
  const look = (): Promise<readonly RunFigures[]> => {
    looked ??= runs.recent(RUNS_MAX).finally(() => (looked = undefined));
    return looked;
  };
  // Several processes may have the same run in memory, so their values are combined by the maximum.
  const register = (name: string, help: string, samples: () => Promise<readonly Sample[]>): void =>
    registerSamples(registry, gauge(name, help, samples, "max"));
  const ofRun = (name: string, help: string, value: (run: RunFigures) => number | undefined): void =>
    register(name, help, async () =>
      (await look()).flatMap((run) => {
        const shown = value(run);
        return shown === undefined ? [] : [{ labels: { run: run.runId }, value: shown }];
      }),
    );
  const ofArm = (name: string, help: string, value: (arm: ArmFigures) => number | undefined): void =>
    register(name, help, async () => armSamples(await look(), value));
  // These metrics are gauges, because an import can lower them, and a counter may not go down.
  ofRun("gradus_run_tasks", "Tasks issued: the run's cursor.", ({ cursor }) => cursor);
  ofRun("gradus_run_update_batches", "Update batches drawn.", ({ batchesDrawn }) => batchesDrawn);
  ofRun("gradus_run_groups_waiting", "Groups issued and not closed.", ({ groupsOutstanding }) => groupsOutstanding);
  ofRun("gradus_run_samples", "Samples recorded.", ({ samplesRecorded }) => samplesRecorded);
  ofRun(
    "gradus_run_useful_share",
    "Groups of the last closed update batch whose samples differ, so that a trainer learns from them.",
    ({ usefulShare }) => usefulShare,
  );
  ofRun(
    "gradus_run_malformed_share",
    "Share of malformed samples in the last complete window of 200 scored samples; if a run ended sooner, in all.",
    ({ malformed: of }) => of?.samples && of.malformed / of.samples,
  );
  ofArm("gradus_arm_probability", "Probability in the last update batch drawn.", ({ probability }) => probability);
  ofArm("gradus_arm_value", "Value that the policy gives to the arm, e.g. Q of a bandit.", ({ value }) => value);
  ofArm("gradus_arm_tasks", "Tasks issued from the arm.", ({ issued }) => issued);
  ofArm(
    "gradus_arm_solved_share",
    "Share of solved samples in the arm's last groups.",
    ({ recentSolvedShare }) => recentSolvedShare,
  );
  ofArm("gradus_arm_reward_mean", "Mean reward in the arm's last groups.", ({ recentRewardMean }) => recentRewardMean);
}

/**
 * Registers the number of signs of reward hacking, i.e. that the trained models exploit their reward. `present` returns
 * the number for each kind of sign.
 */
export function registerSigns(registry: Registry, present: () => ReadonlyMap<string, number>): void {
  const help = "Signs that policies exploit their reward, in runs with samples in the last ten minutes.";
  registerSamples(
    registry,
    gauge("gradus_run_hacking_signs", help, () => byName("kind", present()), "max"),
  );
}

/**
 * Returns a sample for each arm of the most recently requested runs. The first run that would make more than ARMS_MAX
 * arms is left out, and so are all older runs.
 */
function armSamples(runs: readonly RunFigures[], value: (arm: ArmFigures) => number | undefined): readonly Sample[] {
  const samples: Sample[] = [];
  let left = ARMS_MAX;
  for (const { runId, arms } of runs) {
    left -= arms.length;
    if (left < 0) break;
    for (const arm of arms) {
      const shown = value(arm);
      if (shown !== undefined) samples.push({ labels: { run: runId, arm: arm.armId }, value: shown });
    }
  }
  return samples;
}
