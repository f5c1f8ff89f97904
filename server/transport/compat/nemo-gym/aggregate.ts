/**
 * Sums up rewards for NeMo Gym's /aggregate_metrics: statistics of each task, of each repeat and of all samples, under
 * NeMo Gym's names. Samples with `mask_sample` have no valid reward: they are counted, and left out of the statistics.
 */
import type { JsonObject } from "@bufbuild/protobuf";
import { invalid, isObject } from "../read-task-choice.ts";
import { intervalOf, mean, quantile, std } from "./statistics.ts";

const TASK = "_ng_task_index";
const ROLLOUT = "_ng_rollout_index";

interface Response {
  readonly task: number;
  readonly rollout: number;
  readonly isMasked: boolean;
  readonly values: ReadonlyMap<string, number>;
}

/** Returns the reply to a request. Throws RpcError if the request is invalid. */
export function aggregated({ verify_responses: given }: JsonObject): JsonObject {
  if (!Array.isArray(given) || !given.every(isObject)) throw invalid("verify_responses", "must be a list of objects");
  const all: readonly Response[] = given.map((each) => ({
    task: Number(each[TASK] ?? 0),
    rollout: Number(each[ROLLOUT] ?? 0),
    isMasked: each["mask_sample"] === true,
    values: valuesOf(each),
  }));
  const measured = all.filter(({ isMasked }) => !isMasked);
  const coverage = coverageOf(all, measured);
  if (measured.length === 0)
    return { group_level_metrics: [], agent_metrics: coverage, key_metrics: coverage, repeat_level_metrics: [] };
  const groups = [...Map.groupBy(measured, ({ task }) => task)].sort(([a], [b]) => a - b);
  const statistics = statisticsOf(measured);
  const means = Object.entries(statistics).filter(([name]) => name.startsWith("mean/"));
  const repeats = repeatsOf(measured);
  return {
    group_level_metrics: groups.map(([task, of]) => ({ ...statisticsOf(of), num_rollouts: of.length, [TASK]: task })),
    agent_metrics: {
      ...statistics,
      ...acrossRepeats(repeats),
      ...coverage,
      num_repeats: new Set(all.map(({ rollout }) => rollout)).size,
    },
    key_metrics: { ...Object.fromEntries(means), ...coverage },
    repeat_level_metrics: repeats,
  };
}

type Metrics = Record<string, number>;

/**
 * Returns the statistics of each repeat, sorted by rollout index. A repeat is one rollout of each task. Empty if there
 * is only one repeat.
 */
function repeatsOf(measured: readonly Response[]): Metrics[] {
  const tasks = new Set(measured.map(({ task }) => task)).size;
  const repeats = [...Map.groupBy(measured, ({ rollout }) => rollout)].sort(([a], [b]) => a - b);
  if (repeats.length < 2) return [];
  return repeats.map(([rollout, of]) => {
    const present = new Set(of.map(({ task }) => task)).size;
    const metrics = columnsOf(of).flatMap(([name, values]) =>
      Object.entries({ ...spreadOf(values, "sem"), p25: quantile(values, 0.25), p75: quantile(values, 0.75) }).map(
        ([statistic, value]) => [`${statistic}/${name}`, value] as const,
      ),
    );
    return {
      [ROLLOUT]: rollout,
      sample_count: present,
      missing_count: tasks - present,
      ...Object.fromEntries(metrics),
    };
  });
}

/** Returns the statistics of the repeats' means, by names such as "ci_low_95_across_repeats/mean/reward". */
function acrossRepeats(repeats: readonly Metrics[]): Metrics {
  const names = new Set(repeats.flatMap((each) => Object.keys(each).filter((name) => name.startsWith("mean/"))));
  const entries = [...names].flatMap((name) => {
    const spread = spreadOf(sorted(repeats.flatMap((each) => each[name] ?? [])), "se");
    return Object.entries(spread).map(([statistic, value]) => [`${statistic}_across_repeats/${name}`, value] as const);
  });
  return Object.fromEntries(entries);
}

const sorted = (values: readonly number[]): readonly number[] => values.toSorted((a, b) => a - b);

/**
 * Returns statistics of sorted values, with a 95% confidence interval of the mean. `error` is the field name for the
 * standard error of the mean.
 */
function spreadOf(values: readonly number[], error: "sem" | "se"): Metrics {
  const deviation = values.length > 1 ? std(values) : 0;
  const interval = intervalOf(values);
  return {
    mean: mean(values),
    median: quantile(values, 0.5),
    std: deviation,
    [error]: deviation / Math.sqrt(values.length),
    min: quantile(values, 0),
    max: quantile(values, 1),
    ...(interval !== undefined && { ci_low_95: interval[0], ci_high_95: interval[1] }),
  };
}

/**
 * Returns the numbers of samples and tasks that have a measurement, and of those that are masked. Empty if no sample is
 * masked.
 */
function coverageOf(all: readonly Response[], measured: readonly Response[]): Record<string, number> {
  if (measured.length === all.length) return {};
  const tasks = new Set(measured.map(({ task }) => task)).size;
  return {
    "coverage/measured_rollouts": measured.length,
    "coverage/masked_rollouts": all.length - measured.length,
    "coverage/measured_tasks": tasks,
    "coverage/fully_masked_tasks": new Set(all.map(({ task }) => task)).size - tasks,
  };
}

/**
 * Returns the fields of a response and of its token usage that are numbers or booleans, by name. A boolean counts as 0
 * or 1.
 */
function valuesOf(response: JsonObject): ReadonlyMap<string, number> {
  const { response: written } = response;
  const usage = isObject(written) && isObject(written["usage"]) ? written["usage"] : {};
  const fields = Object.entries({ ...response, ...usage });
  return new Map(
    fields.flatMap(([name, value]) => {
      const isMeasured = typeof value === "number" || typeof value === "boolean";
      return isMeasured && !name.startsWith("_") && name !== "mask_sample" ? [[name, Number(value)] as const] : [];
    }),
  );
}

/** Returns each measurement, i.e. each numeric field such as "reward", by name with its sorted values. */
function columnsOf(responses: readonly Response[]) {
  const names = [...new Set(responses.flatMap(({ values }) => [...values.keys()]))];
  return names.map((name) => [name, sorted(responses.flatMap(({ values }) => values.get(name) ?? []))] as const);
}

/** Returns the statistics of each measurement, by names such as "mean/reward". */
function statisticsOf(responses: readonly Response[]): Metrics {
  const columns = columnsOf(responses);
  // The deviation of a single value is undefined. NeMo Gym reports 0 if all are undefined, and leaves it out otherwise.
  const isSingle = columns.every(([, values]) => values.length < 2);
  const entries = columns.flatMap(([name, values]) => {
    const deviation = values.length > 1 ? std(values) : isSingle ? 0 : undefined;
    const statistics = {
      mean: mean(values),
      max: quantile(values, 1),
      min: quantile(values, 0),
      median: quantile(values, 0.5),
      ...(deviation !== undefined && { std: deviation }),
    };
    return Object.entries(statistics).map(([statistic, value]) => [`${statistic}/${name}`, value] as const);
  });
  return Object.fromEntries(entries);
}
