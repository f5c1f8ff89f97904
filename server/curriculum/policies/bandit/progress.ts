/**
 * Computes learning progress: how fast an arm's share of solved samples changes (Matiisen et al. 2017; Graves et al.
 * 2017).
 */
import type { Lesson } from "./rule.ts";

/** A fast and a slow moving average of the share of solved samples, by arm. Null: the arm has had no signal. */
export interface Tracks {
  readonly fast: readonly (number | null)[];
  readonly slow: readonly (number | null)[];
}

export interface TrackRates {
  /** Rates of the two moving averages, in (0, 1]. The slow one is smaller than the fast one. */
  readonly progressFastRate: number;
  readonly progressSlowRate: number;
}

export function noTracks(armCount: number): Tracks {
  const none = new Array<null>(armCount).fill(null);
  return { fast: none, slow: none };
}

/** Returns the averages after arms were added. New arms have null. */
export function resizeTracks({ fast, slow }: Tracks, armCount: number): Tracks {
  const none = new Array<null>(Math.max(0, armCount - fast.length)).fill(null);
  return { fast: [...fast, ...none], slow: [...slow, ...none] };
}

/**
 * Updates the averages with the groups of a batch, whose signals are shares of solved samples. Returns the groups with
 * their arm's new |fast − slow| as signal. An average starts as the arm's first mean. With weights w of an arm's n
 * groups, an average a becomes a + rate/n · Σ w (s − a).
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
