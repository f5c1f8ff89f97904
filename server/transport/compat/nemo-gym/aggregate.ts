/** Sums up rewards for NeMo Gym's /aggregate_metrics, with the statistics and the names that NeMo Gym has by default. */
import type { JsonObject } from "@bufbuild/protobuf";
import { invalid, isObject } from "../read-task-choice.ts";

/** Field with the index of a response's task. */
const TASK = "_ng_task_index";
/** Fields that are no measurements. */
const INDICES: readonly string[] = [TASK, "_ng_rollout_index"];

/** Returns the reply to a request as JSON: metrics of each task, of all responses, and the means of all. */
export function aggregated({ verify_responses: given }: JsonObject): string {
  if (!Array.isArray(given) || !given.every(isObject)) throw invalid("verify_responses", "must be a list of objects");
  const responses = given.map((each) => ({ task: Number(each[TASK] ?? 0), values: valuesOf(each) }));
  const groups = [...Map.groupBy(responses, ({ task }) => task)].sort(([a], [b]) => a - b);
  const all = statisticsOf(responses.map(({ values }) => values));
  return JSON.stringify({
    group_level_metrics: groups.map(([task, of]) => ({
      ...statisticsOf(of.map(({ values }) => values)),
      [TASK]: task,
    })),
    agent_metrics: all,
    key_metrics: Object.fromEntries(Object.entries(all).filter(([name]) => name.startsWith("mean/"))),
  });
}

/** Returns the numbers of a response and of its usage by name. A boolean counts as 0 or 1. */
function valuesOf(response: JsonObject): ReadonlyMap<string, number> {
  const { response: written } = response;
  const usage = isObject(written) && isObject(written["usage"]) ? written["usage"] : {};
  const fields = Object.entries({ ...response, ...usage }).filter(([name]) => !INDICES.includes(name));
  return new Map(
    fields.flatMap(([name, value]) =>
      typeof value === "number" || typeof value === "boolean" ? [[name, Number(value)] as const] : [],
    ),
  );
}

/** Returns the statistics of each measurement, by names such as "mean/reward". */
function statisticsOf(rows: readonly ReadonlyMap<string, number>[]): Record<string, number> {
  const names = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  const columns = names.map((name) => [name, rows.flatMap((row) => row.get(name) ?? [])] as const);
  const isSingle = columns.every(([, values]) => values.length < 2);
  const entries = columns.flatMap(([name, values]) => {
    const sorted = values.toSorted((a, b) => a - b);
    const { length } = sorted;
    const at = (index: number): number => sorted[index] ?? Number.NaN;
    const mean = values.reduce((sum, value) => sum + value, 0) / length;
    const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
    // The deviation of a single value is undefined. NeMo Gym reports 0 if all are, and leaves it out otherwise.
    const std = length > 1 ? Math.sqrt(squares / (length - 1)) : isSingle ? 0 : undefined;
    const median = (at(Math.floor((length - 1) / 2)) + at(Math.floor(length / 2))) / 2;
    const statistics = { mean, max: at(length - 1), min: at(0), median, ...(std !== undefined && { std }) };
    return Object.entries(statistics).map(([statistic, value]) => [`${statistic}/${name}`, value] as const);
  });
  return Object.fromEntries(entries);
}
