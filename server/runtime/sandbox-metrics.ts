/** What the sandbox was asked to run, and what came of it, for Prometheus. */
import type { Registry } from "prom-client";
import { registerSamples, type Sample } from "./samples.ts";

interface SandboxFigures {
  readonly jobs: ReadonlyMap<string, number>;
  readonly cases: ReadonlyMap<string, number>;
  readonly seconds: number;
}

/** `figures` is undefined where there is no sandbox: then there are no such metrics. */
export function registerSandbox(registry: Registry, figures: (() => SandboxFigures) | undefined): void {
  if (figures === undefined) return;
  const counter = (name: string, help: string, samples: () => readonly Sample[]): void =>
    registerSamples(registry, { name, help, type: "counter", samples });
  counter("gradus_sandbox_jobs_total", "Programs that the sandbox was given: ran, or why not.", () =>
    byName("outcome", figures().jobs),
  );
  counter("gradus_sandbox_cases_total", "Tests that programs were run with, by what they came to.", () =>
    byName("result", figures().cases),
  );
  counter("gradus_sandbox_seconds_total", "Seconds that the jobs took, the wait for their turn included.", () => [
    { labels: {}, value: figures().seconds },
  ]);
}

function byName(label: string, counts: ReadonlyMap<string, number>): readonly Sample[] {
  return [...counts].map(([name, value]) => ({ labels: { [label]: name }, value }));
}
