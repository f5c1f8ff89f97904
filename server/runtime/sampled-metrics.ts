/**
 * Metrics whose values are computed when Prometheus reads them. The metric classes of prom-client would instead store
 * each value.
 */
import type { Gauge, Registry } from "prom-client";

export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName?: string;
}

export interface SampledMetric {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "histogram" | "gauge";
  /**
   * Function that combines the values of several processes of one server. Defaults to "sum", which is right only for
   * counts.
   */
  readonly together?: "sum" | "max" | "min" | "average";
  readonly samples: () => readonly Sample[] | Promise<readonly Sample[]>;
}

export function counter(name: string, help: string, samples: SampledMetric["samples"]): SampledMetric {
  return { name, help, type: "counter", samples };
}

export function gauge(
  name: string,
  help: string,
  samples: SampledMetric["samples"],
  together: NonNullable<SampledMetric["together"]>,
): SampledMetric {
  return { name, help, type: "gauge", together, samples };
}

/** Increases the count for a name by one. */
export function countUp<Name>(counts: Map<Name, number>, name: Name): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** Counts values in buckets. Each bucket has an upper bound. */
export interface Histogram {
  add(value: number): void;
  /** Returns the number of values in each bucket. The last bucket has the values above all bounds. */
  counts(): readonly number[];
  /** Returns the samples of a Prometheus histogram, whose buckets are cumulative. */
  samples(name: string, labels: Sample["labels"]): readonly Sample[];
}

export function histogram(bounds: readonly number[]): Histogram {
  // Numbers of values in each bucket, not cumulative. The last bucket has the values above all bounds.
  const buckets = new Float64Array(bounds.length + 1);
  let [sum, count] = [0, 0];
  return {
    add(value) {
      let place = 0;
      while (place < bounds.length && value > (bounds[place] ?? Infinity)) place += 1;
      buckets[place] = (buckets[place] ?? 0) + 1;
      sum += value;
      count += 1;
    },
    counts: () => [...buckets],
    samples(name, labels) {
      let below = 0;
      const cumulative = [...bounds, "+Inf"].map((le, place) => {
        below += buckets[place] ?? 0;
        return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: below };
      });
      const total = { metricName: `${name}_sum`, labels, value: sum };
      return [...cumulative, total, { metricName: `${name}_count`, labels, value: count }];
    },
  };
}

/**
 * Estimates a quantile from the counts of buckets, as Prometheus's histogram_quantile does: values lie evenly within a
 * bucket, and those above all bounds count as the last bound. Returns undefined if there are no values.
 */
export function quantile(bounds: readonly number[], counts: readonly number[], share: number): number | undefined {
  const all = counts.reduce((sum, count) => sum + count, 0);
  if (all === 0) return undefined;
  let below = 0;
  for (const [place, bound] of bounds.entries()) {
    const count = counts[place] ?? 0;
    const from = bounds[place - 1] ?? 0;
    if (count > 0 && below + count >= share * all) return from + ((bound - from) * (share * all - below)) / count;
    below += count;
  }
  return bounds.at(-1);
}

/** Returns the only sample of a metric without labels. Undefined: the metric has no value yet. */
export function one(value: number | undefined): readonly Sample[] {
  return value === undefined ? [] : [{ labels: {}, value }];
}

/** Returns a sample for each name, with the name as the value of the label `label`. */
export function byName(label: string, by: ReadonlyMap<string, number>, more: Sample["labels"] = {}): readonly Sample[] {
  return [...by].map(([name, value]) => ({ labels: { ...more, [label]: name }, value }));
}

export function registerSamples(registry: Registry, ...metrics: readonly SampledMetric[]): void {
  for (const { name, help, type, together = "sum", samples } of metrics) {
    const get = async () => ({ name, help, type, aggregator: together, values: await samples() });
    registry.registerMetric({ name, get, reset: () => undefined } as unknown as Gauge);
  }
}
