/**
 * Calibrates the difficulty of levels (FORGE 3.2, stage IV): finds parameters whose success rate lies in a target band.
 */
import type { Report } from "../../../clients/ts/src/public.ts";

export interface Band {
  readonly level: string;
  readonly min: number;
  readonly max: number;
}

/** Target success rates for each level, from the paper FORGE. */
export const bands: readonly Band[] = [
  { level: "easy", min: 0.7, max: 0.9 },
  { level: "medium", min: 0.4, max: 0.7 },
  { level: "hard", min: 0.1, max: 0.4 },
];

/** Success rate of a model on tasks with one choice of an environment's parameters (a setting). */
export interface Setting {
  readonly environment: string;
  readonly parameters: Readonly<Record<string, number>>;
  readonly tasks: number;
  /** Share of answers that meet every constraint. For answers that are only right or wrong, the share of right ones. */
  readonly successRate: number;
}

export interface Chosen {
  readonly environment: string;
  readonly band: Band;
  /** Setting in the band whose success rate is nearest to the band's middle. Undefined if no setting is in the band. */
  readonly setting: Setting | undefined;
  /**
   * If no setting is in the band: the nearest settings above the band (easier) and below it (harder). Parameters
   * between the two should be tried next.
   */
  readonly easier: Setting | undefined;
  readonly harder: Setting | undefined;
}

/**
 * Returns the settings (environment and parameters) that the reports measured. If several reports measured a setting,
 * their success rates are averaged, weighted by tasks.
 */
export function settingsOf(reports: readonly Report[]): readonly Setting[] {
  const settings = new Map<string, Setting>();
  for (const { parts, suite } of reports)
    for (const row of parts) {
      const part = suite?.parts.find(({ name }) => name === row.name);
      const rate = row.figures["success_rate"] ?? row.figures["exact_rate"];
      if (part === undefined || rate === undefined) continue;
      const values = Object.entries(part.parameters?.values ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
      const key = JSON.stringify([part.environment, part.version, values]);
      const tasks = Number(row.tasks - (row.tasksLeftOut["mean_reward"] ?? 0n));
      const known = settings.get(key) ?? { tasks: 0, successRate: 0 };
      const all = known.tasks + tasks;
      const successRate = (known.successRate * known.tasks + rate * tasks) / all;
      const parameters = Object.fromEntries(values);
      settings.set(key, { environment: part.environment, parameters, tasks: all, successRate });
    }
  return [...settings.values()];
}

/** Returns the setting (parameters) to use for each environment and each band of success rates. */
export function calibrate(settings: readonly Setting[], wanted: readonly Band[] = bands): readonly Chosen[] {
  const byEnvironment = [...Map.groupBy(settings, ({ environment }) => environment)].sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  return byEnvironment.flatMap(([environment, known]) => wanted.map((band) => choose(environment, known, band)));
}

function choose(environment: string, settings: readonly Setting[], band: Band): Chosen {
  const middle = (band.min + band.max) / 2;
  const off = ({ successRate }: Setting): number => Math.abs(successRate - middle);
  // Take the setting with more tasks if two are equally near.
  const nearest = (some: readonly Setting[]): Setting | undefined =>
    some.toSorted((a, b) => off(a) - off(b) || b.tasks - a.tasks)[0];
  const setting = nearest(settings.filter(({ successRate: rate }) => rate >= band.min && rate <= band.max));
  if (setting !== undefined) return { environment, band, setting, easier: undefined, harder: undefined };
  const easier = nearest(settings.filter(({ successRate }) => successRate > band.max));
  const harder = nearest(settings.filter(({ successRate }) => successRate < band.min));
  return { environment, band, setting, easier, harder };
}
