/**
 * Sums up rewards for NeMo Gym's /aggregate_metrics: statistics of each task and of all, under the names that NeMo Gym
 * gives them. Samples that are marked as no measurement (`mask_sample`) are counted and left out.
 */
import type { JsonObject } from "@bufbuild/protobuf";
import { invalid, isObject } from "../read-task-choice.ts";

const TASK = "_ng_task_index";
const ROLLOUT = "_ng_rollout_index";

interface Response {
  readonly task: number;
  readonly isMasked: boolean;
  readonly values: ReadonlyMap<string, number>;
}

/** Returns the reply to a request. Throws RpcError if the request is invalid. */
export function aggregated({ verify_responses: given }: JsonObject): JsonObject {
  if (!Array.isArray(given) || !given.every(isObject)) throw invalid("verify_responses", "must be a list of objects");
  const all: readonly Response[] = given.map((each) => ({
    task: Number(each[TASK] ?? 0),
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
  const repeats = new Set(given.map((each) => Number(each[ROLLOUT] ?? 0))).size;
  return {
    group_level_metrics: groups.map(([task, of]) => ({ ...statisticsOf(of), num_rollouts: of.length, [TASK]: task })),
    agent_metrics: { ...statistics, ...coverage, num_repeats: repeats },
    key_metrics: { ...Object.fromEntries(means), ...coverage },
    repeat_level_metrics: [],
  };
}

/** Returns how many samples are measurements. Empty if all are. */
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

/** Returns the numbers of a response and of its usage by name. A boolean counts as 0 or 1. */
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

/** Returns the statistics of each measurement, by names such as "mean/reward". */
function statisticsOf(responses: readonly Response[]): Record<string, number> {
  const names = [...new Set(responses.flatMap(({ values }) => [...values.keys()]))];
  const columns = names.map((name) => [name, responses.flatMap(({ values }) => values.get(name) ?? [])] as const);
  // The deviation of a single value is undefined. NeMo Gym reports 0 if all are undefined, and leaves it out otherwise.
  const isSingle = columns.every(([, values]) => values.length < 2);
  const entries = columns.flatMap(([name, values]) => {
    const sorted = values.toSorted((a, b) => a - b);
    const { length } = sorted;
    const at = (index: number): number => sorted[index] ?? Number.NaN;
    const mean = values.reduce((sum, value) => sum + value, 0) / length;
    const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
    const std = length > 1 ? Math.sqrt(squares / (length - 1)) : isSingle ? 0 : undefined;
    const median = (at(Math.floor((length - 1) / 2)) + at(Math.floor(length / 2))) / 2;
    const statistics = { mean, max: at(length - 1), min: at(0), median, ...(std !== undefined && { std }) };
    return Object.entries(statistics).map(([statistic, value]) => [`${statistic}/${name}`, value] as const);
  });
  return Object.fromEntries(entries);
}
