/** Tests /metrics against Prometheus's own rules, and the ports that serve it. */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { programOf } from "../support/debian.ts";
import { openServer } from "../support/in-process.ts";

/** Types by name, from the lines that say them. */
function typesOf(text: string): ReadonlyMap<string, string> {
  return new Map(Array.from(text.matchAll(/^# TYPE (\S+) (\S+)$/gm), ([, name = "", type = ""]) => [name, type]));
}

/** Returns the output of `promtool check metrics`. */
function lint(text: string): string {
  const promtool = programOf(["promtool"], "prometheus");
  const { stdout, stderr } = spawnSync(promtool, ["check", "metrics"], { input: text, encoding: "utf8" });
  return `${stdout}${stderr}`;
}

test("metrics are named as their types say, and a status has its name", async () => {
  await using server = await openServer({ metricsPort: "0" });
  const { client } = server;
  const run = client.run("run");
  const arms = [{ id: "a", environment: "countdown", level: "T0" }] as const;
  await run.create({ arms, policy: { kind: "mixture" }, numGenerations: 2, promptsPerUpdate: 1 });
  const { tasks } = await run.nextBatch({ cursor: 0n });
  for (const task of tasks) await client.step(task, "<answer>1</answer>", { sampleIndex: 0 });
  await client
    .run("none")
    .get()
    .catch(() => undefined);
  const text = await (await fetch(`http://127.0.0.1:${server.server.metricsPort}/metrics`)).text();
  expect(text).toMatch(/^gradus_calls_total\{method="gradus.v1.EnvironmentService\/Step",code="OK"\} 1$/m);
  expect(text).toMatch(/^gradus_calls_total\{method="gradus.v1.CurriculumService\/GetRun",code="NOT_FOUND"\} 1$/m);
  const types = typesOf(text);
  const misnamed = [...types].filter(([name, type]) => (type === "counter") !== name.endsWith("_total"));
  // The sum of a histogram's times by the name that prom-client gives it.
  expect(misnamed.filter(([name]) => name.startsWith("gradus_"))).toEqual([]);
  expect(misnamed.filter(([, type]) => type === "gauge" && text.includes("_total{"))).toEqual([]);
  expect(lint(text)).toBe("");
});
