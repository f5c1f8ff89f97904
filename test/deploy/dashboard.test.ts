/** Tests, with Prometheus itself, the values that the dashboard's panels compute from a server's metrics. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { programOf } from "../support/debian.ts";
import { temporaryFolder } from "../support/server-process.ts";

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const { panels } = JSON.parse(readFileSync("deploy/grafana/gradus.json", "utf8")) as {
  readonly panels: readonly Panel[];
};

/** Returns a panel's query, for all instances and a rate over four minutes. */
function askedBy(title: string): string {
  const [target] = panels.find((panel) => panel.title === title)?.targets ?? [];
  return (target?.expr ?? "").replaceAll("$instance", ".*").replaceAll("$__rate_interval", "4m");
}

/** Throws with promtool's words where the panel shows another value than this, ten minutes on. */
function hold(title: string, series: Readonly<Record<string, string>>, value: number): void {
  using folder = temporaryFolder();
  const file = join(folder.path, "dashboard.test.yml");
  const input = Object.entries(series).map(([name, values]) => ({ series: name, values }));
  const samples = [{ labels: '{environment="np/tsp"}', value }];
  const asked = { expr: askedBy(title), eval_time: "10m", exp_samples: samples };
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ tests: [{ interval: "1m", input_series: input, promql_expr_test: [asked] }] }));
  execFileSync(programOf(["promtool"], "prometheus"), ["test", "rules", file], { stdio: "pipe" });
}

const of = (name: string, instance: string): string => `${name}{instance="${instance}",environment="np/tsp"}`;

test.each([-2.5, -0.5, 2])("the mean reward is %d where every reward is, of two servers", (reward) => {
  const sum = `0${reward < 0 ? "" : "+"}${100 * reward}x10`;
  const series = {
    [of("gradus_reward_sum", "a")]: sum,
    [of("gradus_reward_count", "a")]: "0+100x10",
    [of("gradus_reward_sum", "b")]: sum,
    [of("gradus_reward_count", "b")]: "0+100x10",
  };
  expect(() => hold("Mean reward", series, reward)).not.toThrow();
});

test("a server that was started again tells of itself when it has counted for long enough", () => {
  const restarted = {
    [of("gradus_reward_sum", "a")]: "0-250x10",
    [of("gradus_reward_count", "a")]: "0+100x10",
    [of("gradus_reward_sum", "b")]: "0-250x8 0-250x1",
    [of("gradus_reward_count", "b")]: "0+100x8 0+100x1",
  };
  expect(() => hold("Mean reward", restarted, -2.5)).not.toThrow();
});
