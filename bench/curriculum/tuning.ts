/**
 * Candidates from which the default was chosen, on the kinds that were not set apart.
 *
 * ```
 * node bench/curriculum/run.ts --policies bench/curriculum/tuning.ts --set tuning --kinds tuned --seeds 10
 * ```
 *
 * Settings are the same for all students. `--policy` names some of them.
 */
import { bandit, type Candidate, competence, levels, tiers } from "./policies.ts";

const tiered = [0.6, 0.7, 0.8].flatMap((threshold) =>
  [0.1, 0.2, 0.3, 0.4].map((floor) =>
    competence(`moves on, threshold ${threshold}, floor ${floor}`, "", {
      step: "COMPETENCE_STEP_MOVE_ON",
      threshold,
      floor,
    }),
  ),
);

/** Candidates whose last tier has all arms, so that mastered arms are practised further. */
const closing = [0.2, 0.25, 0.3].map((floor): Candidate => ({
  name: `moves on to all, floor ${floor}`,
  says: "",
  policy: (places) => ({
    competence: {
      tiers: [...tiers(places), { weights: levels(places, () => true) }],
      step: "COMPETENCE_STEP_MOVE_ON",
      floor,
    },
  }),
}));

const widening = [undefined, 0.6, 0.8].flatMap((newestShare) =>
  [0.1, 0.3].map((floor) =>
    competence(`widens, newest ${newestShare ?? "as the others"}, floor ${floor}`, "", {
      floor,
      ...(newestShare !== undefined && { newestShare }),
    }),
  ),
);

const signals = { "absolute advantage": 1, "p(1 − p)": 2, progress: 3 } as const;

const bandits = Object.entries(signals).flatMap(([name, signal]) =>
  [0.15, 0.3].flatMap((alpha) =>
    [0.25, 0.5, 0.7].map((tau) =>
      bandit(`bandit, ${name}, rescaled, α ${alpha}, τ ${tau}`, "", {
        signal,
        emaSoftmax: { alpha, tau },
        rescale: {},
      }),
    ),
  ),
);

/** Frontier with a given practice scale, counted in update batches. */
const scales = [1, 2, 4, 8, 16].map((times): Candidate => ({
  name: `frontier, practice_scale of ${times} update batches`,
  says: "",
  policy: (_, { promptsPerUpdate }) => ({ frontier: { practiceScale: Math.max(8, times * promptsPerUpdate) } }),
}));

export const candidates: readonly Candidate[] = [...scales, ...tiered, ...closing, ...widening, ...bandits];
