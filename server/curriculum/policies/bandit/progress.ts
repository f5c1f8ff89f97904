/** Learning progress: how fast an arm's solved share changes (Matiisen et al. 2017; Graves et al. 2017). */
import type { Lesson } from "./rule.ts";

/** Of each arm: a fast and a slow moving average of its solved share; null: nothing was seen of it. */
export interface Tracks {
  readonly fast: readonly (number | null)[];
  readonly slow: readonly (number | null)[];
}

export interface TrackRates {
  /** Of the moving averages, in (0, 1]; slow is below fast. */
  readonly progressFastRate: number;
  readonly progressSlowRate: number;
}

export function noTracks(armCount: number): Tracks {
  const none = new Array<null>(armCount).fill(null);
  return { fast: none, slow: none };
}

/** Nothing was seen of new arms. */
export function resizeTracks({ fast, slow }: Tracks, armCount: number): Tracks {
  const none = new Array<null>(Math.max(0, armCount - fast.length)).fill(null);
  return { fast: [...fast, ...none], slow: [...slow, ...none] };
}

/**
 * The averages after a batch's lessons, whose signals are solved shares, and those lessons with |fast − slow| of their
 * arm, after the batch, in place of them. Both begin with an arm's first mean. Of n groups with weights w each moves an
 * average a by its part: a ← a + rate/n · Σ w (s − a).
 */
export function track(
  { progressFastRate, progressSlowRate }: TrackRates,
  { fast, slow }: Tracks,
  lessons: readonly Lesson[],
): { readonly tracks: Tracks; readonly lessons: readonly Lesson[] } {
  const byArm = new Map<number, Lesson[]>();
  for (const lesson of lessons) byArm.set(lesson.arm, [...(byArm.get(lesson.arm) ?? []), lesson]);
  const moved = (averages: Tracks["fast"], rate: number): Tracks["fast"] =>
    averages.map((average, arm) => {
      const seen = byArm.get(arm);
      if (seen === undefined) return average;
      const weight = seen.reduce((sum, lesson) => sum + lesson.weight, 0);
      const sum = seen.reduce((total, lesson) => total + lesson.weight * lesson.signal, 0);
      if (average === null) return sum / weight;
      return average + (rate / seen.length) * (sum - weight * average);
    });
  const tracks = { fast: moved(fast, progressFastRate), slow: moved(slow, progressSlowRate) };
  const progress = (arm: number): number => Math.abs((tracks.fast[arm] ?? 0) - (tracks.slow[arm] ?? 0));
  return { tracks, lessons: lessons.map((lesson) => ({ ...lesson, signal: progress(lesson.arm) })) };
}
