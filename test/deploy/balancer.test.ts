/** `deploy/kubernetes`: the balancer has the configuration of deploy/haproxy.cfg, and the autoscaler a metric that there is. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { createMetrics } from "../../server/runtime/metrics.ts";
import { programOf } from "../support/debian.ts";
import { temporaryFolder } from "../support/server-process.ts";

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly selector?: Readonly<Record<string, string>>;
    readonly clusterIP?: string;
    readonly publishNotReadyAddresses?: boolean;
    readonly maxReplicas?: number;
    readonly metrics?: readonly {
      readonly type: string;
      readonly pods?: { readonly metric: { readonly name: string }; readonly target: Readonly<Record<string, string>> };
    }[];
  };
}

const manifests = (file: string): readonly Manifest[] =>
  parseAllDocuments(readFileSync(`deploy/kubernetes/${file}`, "utf8")).map((each) => each.toJS() as Manifest);
const balancer = manifests("balancer.yaml");
const configuration = balancer.find(({ kind }) => kind === "ConfigMap")?.data?.["haproxy.cfg"] ?? "";
const ruled = readFileSync("deploy/haproxy.cfg", "utf8").split("\n");

/** Returns the settings without comments, and without the servers' addresses and checks. */
const settings = (lines: readonly string[]): readonly string[] =>
  lines
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .filter(
      (line) =>
        !/^(?:server|server-template|resolvers|nameserver|parse-resolv-conf|accepted_payload_size|option httpchk) ?/.test(
          line,
        ),
    )
    .map((line) => line.replace(/ init-addr .*/, ""));

test("the balancer's settings are those of deploy/haproxy.cfg but for its servers", () => {
  expect(settings(configuration.split("\n"))).toEqual(settings(ruled));
  expect(configuration).toContain("balance hdr(gradus-run)");
  // Each HAProxy hashes by a replica's address, and not by its place in an answer of DNS.
  expect(configuration).toMatch(/^ +default-server .* hash-key addr$/m);
  const asked = configuration
    .split(/^backend /m)
    .slice(1)
    .map((part) => /httpchk GET (\S+)/.exec(part)?.[1]);
  expect(asked).toEqual(["/readyz", "/readyz", "/livez", "/livez"]);
});

test("it finds as many replicas as the autoscaler starts, by a Service that has those that are not ready too", () => {
  const [scaler] = manifests("autoscaler.yaml");
  const templates = [...configuration.matchAll(/server-template gradus (\d+) ([\w-]+):(\d+)/g)];
  expect(templates.map(([, count]) => Number(count))).toEqual(
    Array.from({ length: 4 }, () => scaler?.spec?.maxReplicas),
  );
  for (const [, , name] of templates) {
    const service = balancer.find((each) => each.kind === "Service" && each.metadata.name === name);
    expect(service?.spec).toMatchObject({ clusterIP: "None", publishNotReadyAddresses: true });
    expect(service?.spec?.selector).toEqual({ "app.kubernetes.io/name": "gradus" });
  }
});

test("HAProxy reads it", () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "haproxy.cfg");
  const haproxy = programOf(["haproxy"], "haproxy");
  const [, major = "0"] = /version (\d+)\./.exec(execFileSync(haproxy, ["-v"], { encoding: "utf8" })) ?? [];
  // The image's version is 3.0, which is the first with hash-key.
  writeFileSync(file, Number(major) >= 3 ? configuration : configuration.replace(" hash-key addr", ""));
  expect(() => execFileSync(haproxy, ["-c", "-f", file], { stdio: "pipe" })).not.toThrow();
});

test("the autoscaler goes by the event loops, and the adapter makes its metric of one that servers have", async () => {
  const metrics = manifests("autoscaler.yaml")[0]?.spec?.metrics ?? [];
  expect(metrics.map(({ type }) => type)).toEqual(["Pods"]);
  const [{ pods } = { pods: undefined }] = metrics;
  const rules = manifests("example/prometheus-adapter.yaml")[0]?.data?.["config.yaml"] ?? "";
  expect(rules).toContain(`as: ${pods?.metric.name}`);
  const [, series = "none"] = /seriesQuery: (\w+)/.exec(rules) ?? [];
  const before = await busy(series);
  // A loop that is full for 100 ms.
  for (const end = performance.now() + 100; performance.now() < end;);
  await new Promise((resolve) => setImmediate(resolve));
  expect((await busy(series)) - before).toBeGreaterThan(0.09);
});

async function busy(series: string): Promise<number> {
  const text = await createMetrics().text();
  return Number(new RegExp(`^${series} (\\S+)$`, "m").exec(text)?.[1]);
}
