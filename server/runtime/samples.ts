/** Metrics whose samples are made when they are asked for; prom-client's own classes hold theirs. */
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
  /** What the processes of a server make of theirs together; left out: their sum, which only what is counted has. */
  readonly together?: "sum" | "max" | "min" | "average";
  readonly samples: () => readonly Sample[] | Promise<readonly Sample[]>;
}

/** A sample for each name that something was counted by. */
export function byName(label: string, by: ReadonlyMap<string, number>, more: Sample["labels"] = {}): readonly Sample[] {
  return [...by].map(([name, value]) => ({ labels: { ...more, [label]: name }, value }));
}

export function registerSamples(
  registry: Registry,
  { name, help, type, together = "sum", samples }: SampledMetric,
): void {
  const get = async () => ({ name, help, type, aggregator: together, values: await samples() });
  registry.registerMetric({ name, get, reset: () => undefined } as unknown as Gauge);
}
