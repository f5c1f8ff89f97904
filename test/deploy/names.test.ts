/**
 * Tests that every name in deploy/ and its guides exists on a server: metrics with labels, variables, ports and paths.
 */
import { execFileSync } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { createClient } from "../../clients/ts/src/index.ts";
import { configOptions, variableOf } from "../../server/runtime/options.ts";
import { programOf } from "../support/debian.ts";
import { PYTHON, useCheckout, WORD_FILE } from "../support/mounted/mounts.ts";
import { type ServerProcess, startServer, temporaryFolder } from "../support/server-process.ts";

const guides = ["deployment", "monitoring", "capacity"].map((name) => `docs/guides/${name}.md`);
const files = [...globSync("deploy/**/*.{yaml,yml,cfg,json}"), ...guides];
const textOf = (file: string): string => readFileSync(file, "utf8");
const allOf = (text: string, pattern: RegExp): readonly string[] => [...text.matchAll(pattern)].map(([all]) => all);

type Path = readonly (string | number)[];
/**
 * Returns the value at a path in a YAML or JSON document; undefined if there is none. The linters check the fields.
 */
const at = (value: unknown, ...path: Path): unknown =>
  path.reduce<unknown>((within, key) => (within as Readonly<Record<string, unknown>> | undefined)?.[key], value);
const listAt = (value: unknown, ...path: Path): readonly unknown[] => (at(value, ...path) as readonly unknown[]) ?? [];
const textAt = (value: unknown, ...path: Path): string => String(at(value, ...path));
const documents = (file: string): readonly unknown[] =>
  parseAllDocuments(textOf(file), { merge: true }).map((each) => each.toJS() as unknown);
const document = (file: string): unknown => documents(file)[0];

const compose = document("deploy/compose.yaml");
const config = document("deploy/kubernetes/config.yaml");
const deployment = document("deploy/kubernetes/deployment.yaml");
const pod = at(deployment, "spec", "template", "spec");
const rules = listAt(document("deploy/alerts.yml"), "groups").flatMap((group) => listAt(group, "rules"));

/** PromQL of the dashboard and of the alerts. */
function expressions(): readonly string[] {
  const panels = listAt(JSON.parse(textOf("deploy/grafana/gradus.json")), "panels");
  const targets = panels.flatMap((panel) => listAt(panel, "targets"));
  return [...targets, ...rules].map((each) => textAt(each, "expr"));
}

const METRIC = /\b(?:gradus|nodejs|process)_[a-z0-9_]+/g;

let server: ServerProcess;
let metricsAddress: string;
let metrics: string;
const folder = temporaryFolder();

beforeAll(async () => {
  // Nobody answers there: its figures are shown all the same.
  const nobody = ["--judge-url", "http://127.0.0.1:9/v1", "--judge-model", "m"];
  const teacher = ["--teacher-url", "http://127.0.0.1:9/v1", "--teacher-model", "m"];
  // Something mounted, for its figures have labels only when it is asked.
  const mount = ["--python", PYTHON, "--python", WORD_FILE, "--mount-workers", "1"];
  useCheckout();
  const tls = ["crt", "key"].flatMap((end) => [
    `--tls-${end === "crt" ? "cert" : "key"}`,
    `test/server/transport/tls/server.${end}`,
  ]);
  server = await startServer(
    folder.path,
    "--sandbox",
    "embedded",
    "--metrics-port",
    "0",
    ...nobody,
    ...teacher,
    ...mount,
    ...tls,
  );
  const ca = readFileSync("test/server/transport/tls/ca.crt");
  const client = createClient(server.address.replace("127.0.0.1", "localhost"), { tls: { ca } });
  const run = client.run("r");
  await run.create({
    arms: [{ id: "a", environment: "countdown", level: "T0" }],
    policy: { kind: "mixture" },
    numGenerations: 1,
    promptsPerUpdate: 1,
  });
  const { tasks } = await run.nextBatch();
  const program = await client.reset({ environment: "code", source: "real" });
  for (const task of [...tasks, program, { ...program, taskId: "x" }])
    await client.step(task, "<think></think><answer>```python\nprint(1)\n```</answer>");
  const word = await client.reset({ environment: "mine/word", level: "short" });
  await client.step(word, "<think></think><answer>die</answer>");
  client.close();
  const line = server.lines.find((each) => each.includes('"msg":"listening"')) ?? "";
  metricsAddress = `http://127.0.0.1:${textAt(JSON.parse(line), "metricsPort")}`;
  metrics = await (await fetch(`${metricsAddress}/metrics`)).text();
});
afterAll(async () => {
  await server.kill("SIGTERM");
  folder[Symbol.dispose]();
});

test("the dashboard, the alerts and the guide name metrics that there are", () => {
  const types = [...metrics.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  const parts = (name: string, type: string): readonly string[] =>
    type === "histogram" ? ["_bucket", "_sum", "_count"].map((end) => name + end) : [name];
  const served = new Set(types.flatMap(([, name = "", type = ""]) => parts(name, type)));
  const named = expressions().flatMap((expression) => allOf(expression, METRIC));
  expect(new Set(named).size).toBeGreaterThan(30);
  expect(named.filter((name) => !served.has(name))).toEqual([]);
  const families = new Set([...served, ...types.map(([, name = ""]) => name)]);
  for (const guide of guides)
    expect(
      allOf(textOf(guide), METRIC).filter((name) => !families.has(name)),
      guide,
    ).toEqual([]);
});

test("Prometheus can read the dashboard's expressions", () => {
  // Grafana puts them in.
  const plain = (expr: string): string => expr.replaceAll("$__rate_interval", "5m").replaceAll("$instance", ".*");
  const read = expressions().map((expr, i) => ({ record: `expression_${i}`, expr: plain(expr) }));
  const file = join(folder.path, "rules.yml");
  writeFileSync(file, JSON.stringify({ groups: [{ name: "all", rules: read }] }));
  const said = execFileSync(programOf(["promtool"], "prometheus"), ["check", "rules", file], { encoding: "utf8" });
  expect(said).toContain(`${read.length} rules found`);
});

test("and labels that they have", () => {
  const served = new Set([...metrics.matchAll(/[{,]([a-z_]+)="/g)].map(([, label]) => label));
  const grouped = expressions().flatMap((each) =>
    [...each.matchAll(/\bby \(([^)]*)\)/g)].map(([, labels = ""]) => labels),
  );
  const selected = expressions().flatMap((each) => [...each.matchAll(/[{,]\s*([a-z]\w*)\s*(?:=|!=|=~|!~)"/g)]);
  const labels = [...grouped.flatMap((list) => list.split(/,\s*/)), ...selected.map(([, label = ""]) => label)];
  expect(labels.length).toBeGreaterThan(30);
  // Prometheus gives the first two itself.
  const known = new Set(["instance", "job", ...served]);
  expect([...new Set(labels)].filter((label) => !known.has(label))).toEqual([]);
  expect(metrics).toMatch(/^gradus_calls_total\{method="[^"]*",code="OK"\}/m);
});

/** The lines between a table's marks in a guide, and the guide with others there. */
function tableIn(guide: string, name: string) {
  const [begins, ends] = [`<!-- ${name}: made by UPDATE_GOLDEN=1 -->\n`, `<!-- ${name} ends -->`];
  const text = textOf(guide);
  const [from, to] = [text.indexOf(begins) + begins.length, text.indexOf(ends)];
  expect(to, `${guide} has no ${ends}`).toBeGreaterThanOrEqual(from);
  return { lines: text.slice(from, to), with: (lines: string) => text.slice(0, from) + lines + text.slice(to) };
}

function expectTable(name: string, head: readonly string[], rows: readonly (readonly string[])[]): void {
  const guide = "docs/guides/monitoring.md";
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |\n`;
  const made = `\n${[head, head.map(() => "---"), ...rows].map(line).join("")}\n`;
  const table = tableIn(guide, name);
  if (process.env["UPDATE_GOLDEN"] === "1") writeFileSync(guide, table.with(made));
  else expect(table.lines).toBe(made);
}

test("the guide's tables are the server's own metrics, and the alerts with what to do", () => {
  const own = [...metrics.matchAll(/^# HELP (gradus_\S+) (.*)\n# TYPE \S+ (\S+)$/gm)];
  const rows = own.map(([, name = "", help = "", type = ""]) => [`\`${name}\``, type, help.replaceAll("|", "\\|")]);
  expectTable(
    "metrics",
    ["metric", "type", "what it is"],
    rows.toSorted(([a = ""], [b = ""]) => (a < b ? -1 : 1)),
  );

  const when = (rule: unknown): string => textAt(rule, "annotations", "summary").replaceAll(/\{\{.*?\}\}/g, "…");
  const actions = rules.map((rule) => {
    const action = textAt(rule, "annotations", "action");
    expect(action, textAt(rule, "alert")).toMatch(/\.$/);
    return [textAt(rule, "alert"), textAt(rule, "labels", "severity"), when(rule), action];
  });
  expectTable("alerts", ["alert", "severity", "says", "what to do"], actions);
});

test("variables are options of the server", () => {
  const known = new Set(Object.values(configOptions).map(variableOf));
  // The compose file's own.
  known.add("GRADUS_IMAGE");
  for (const file of files)
    expect(
      allOf(textOf(file), /\bGRADUS_[A-Z0-9_]+/g).filter((name) => !known.has(name)),
      file,
    ).toEqual([]);
});

test("ports and paths are the server's", async () => {
  const metricsPort = 9464;
  const ports = [configOptions.port.defaultValue, configOptions.httpPort.defaultValue, metricsPort];
  expect(textAt(compose, "services", "gradus-a", "environment", "GRADUS_METRICS_PORT")).toBe(String(metricsPort));
  expect(textAt(config, "data", "GRADUS_METRICS_PORT")).toBe(String(metricsPort));
  expect(listAt(pod, "containers", 0, "ports").map((port) => at(port, "containerPort"))).toEqual(ports);
  const named = allOf(textOf("deploy/haproxy.cfg") + textOf("deploy/prometheus.yml"), /(?<=gradus-[ab]:)\d+/g);
  expect(named.length).toBe(10);
  expect(named.filter((port) => !ports.includes(Number(port)))).toEqual([]);

  const paths = files.flatMap((file) => allOf(textOf(file), /(?<![\w/])\/(?:livez|readyz|healthz|metrics)\b/g));
  expect(new Set(paths).size).toBeGreaterThan(2);
  for (const path of new Set(paths)) expect((await fetch(metricsAddress + path)).status, path).toBe(200);
});

test("the manifests refer to each other, and a pod ends later than its drain", () => {
  const stored = Object.keys(at(document("deploy/kubernetes/example/secret.yaml"), "stringData") as object);
  const volume = listAt(pod, "volumes").find((each) => at(each, "name") === "secret");
  const mounted = listAt(volume, "secret", "items").map((item) => textAt(item, "key"));
  const read = textAt(pod, "containers", 0, "env", 0, "valueFrom", "secretKeyRef", "key");
  expect([read, ...mounted].toSorted()).toEqual(stored.toSorted());
  expect(mounted.map((item) => `/run/secrets/${item}`)).toEqual(
    ["GRADUS_KEY_FILE", "GRADUS_TOKENS_FILE"].map((name) => at(config, "data", name)),
  );
  // Kubernetes's own variables of the Service would have the names of the server's options.
  expect(at(pod, "enableServiceLinks")).toBe(false);
  const names = listAt(pod, "containers", 0, "ports").map((port) => at(port, "name"));
  const targets = documents("deploy/kubernetes/services.yaml").flatMap((service) => listAt(service, "spec", "ports"));
  for (const target of targets) expect(names).toContain(at(target, "targetPort"));

  const drainSeconds = Number(at(config, "data", "GRADUS_DRAIN_TIMEOUT_MS")) / 1000;
  const waits = Number(at(pod, "containers", 0, "lifecycle", "preStop", "sleep", "seconds"));
  expect(Number(at(pod, "terminationGracePeriodSeconds"))).toBeGreaterThan(drainSeconds + waits + 5);
  const grace = Number.parseInt(textAt(compose, "services", "gradus-a", "stop_grace_period"), 10);
  expect(grace).toBeGreaterThan(drainSeconds + 5);
});
