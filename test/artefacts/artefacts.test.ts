/**
 * Installs each part of a release in an empty folder without the checkout, and tests that it works. The release is
 * built once for all tests. They take only Node and grpcio from the checkout, which registries would otherwise bring.
 */
import { execFile, type ExecFileOptions, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import packageLock from "../../package-lock.json" with { type: "json" };
import packageJson from "../../package.json" with { type: "json" };
import { PATIENCE_MS } from "../support/patience.ts";
import { sharedDatabase } from "../support/shared-postgres.ts";
import { temporaryFolder } from "../support/server-process.ts";

const repository = resolve(import.meta.dirname, "../..");
const { version } = packageJson;
const folder = temporaryFolder();
const release = join(folder.path, "release");
const image = join(folder.path, "image");
const run = promisify(execFile);

/**
 * Environment without the checkout's settings; of its path only the Node remains. Npm trusts the certificates that the
 * machine trusts, because it may reach its registry through a proxy.
 */
const bare = {
  PATH: `${join(repository, "node_modules/node/bin")}:/usr/bin:/bin`,
  HOME: folder.path,
  NODE_EXTRA_CA_CERTS: process.env["NODE_EXTRA_CA_CERTS"] ?? "/etc/ssl/certs/ca-certificates.crt",
  npm_config_cache: process.env["npm_config_cache"] ?? join(process.env["HOME"] ?? "/root", ".npm"),
  npm_config_prefer_offline: "true",
  npm_config_audit: "false",
  npm_config_fund: "false",
};

async function typed(command: string, cwd: string, options: ExecFileOptions = {}): Promise<string> {
  const all = { cwd, env: bare, timeout: PATIENCE_MS, ...options };
  return String((await run("bash", ["-euo", "pipefail", "-c", command], all)).stdout);
}

function empty(name: string): string {
  const path = join(folder.path, name);
  mkdirSync(path);
  return path;
}

beforeAll(async () => {
  // On some machines files are readable only by their owner. The image's user must still be able to read them.
  const command = `umask 077 && exec '${process.execPath}' scripts/artefacts/release.ts '${release}'`;
  await run("sh", ["-c", command], { cwd: repository, timeout: PATIENCE_MS });
  mkdirSync(image);
  await run("tar", ["-C", image, "-xzf", join(release, `gradus-image-${version}.tar.gz`)]);
  // Others than its owner must get there.
  chmodSync(folder.path, 0o755);
});
afterAll(() => folder[Symbol.dispose]());

interface Serving extends AsyncDisposable {
  readonly grpc: string;
  readonly http: string;
  readonly lines: readonly string[];
}

async function serve(command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<Serving> {
  const flags = [
    "serve",
    "--port",
    "0",
    "--http-port",
    "0",
    "--workers",
    "1",
    "--workers-cold",
    "--log-format",
    "json",
  ];
  const child = spawn(command, [...args, ...flags], { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
  const lines: string[] = [];
  const ports = await new Promise<{ grpcPort: number; httpPort: number }>((done, fail) => {
    child.once("exit", (code) => fail(new Error(`it ended with ${code}:\n${lines.join("\n")}`)));
    createInterface(child.stdout).on("line", (line) => {
      lines.push(line);
      if (line.includes('"msg":"listening"')) done(JSON.parse(line) as { grpcPort: number; httpPort: number });
    });
  });
  return {
    grpc: `127.0.0.1:${ports.grpcPort}`,
    http: `http://127.0.0.1:${ports.httpPort}`,
    lines,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

test("there is all that a release consists of, with checksums and a bill of materials", () => {
  const { stem, sums } = { stem: `gradus-${version}`, sums: readFileSync(join(release, "SHA256SUMS"), "utf8") };
  const names = [
    ...[`${stem}.cdx.json`, `${stem}.tgz`, `gradus-client-${version}.tgz`, `gradus-image-${version}.tar.gz`],
    `gradus_gym-${version}-py3-none-any.whl`,
  ];
  expect(readdirSync(release).sort()).toEqual(["SHA256SUMS", ...names].sort());
  for (const name of names) {
    const digest = createHash("sha256")
      .update(readFileSync(join(release, name)))
      .digest("hex");
    expect(sums).toContain(`${digest}  ${name}\n`);
  }
  const bill = JSON.parse(readFileSync(join(release, `${stem}.cdx.json`), "utf8")) as {
    readonly bomFormat: string;
    readonly components: readonly { readonly name: string; readonly version: string }[];
  };
  const listed = new Set(bill.components.map(({ name, version }) => `${name}@${version}`));
  expect(bill.bomFormat).toBe("CycloneDX");
  const locked = packageLock.packages as Readonly<Record<string, { readonly version?: string }>>;
  for (const name of Object.keys(packageJson.dependencies))
    expect(listed).toContain(`${name}@${locked[`node_modules/${name}`]?.version}`);
  // The bill lists the page's packages, though the lock file has them as tools, and the Node that runs it all.
  for (const name of ["preact", "highlight.js", "@tanstack/virtual-core"])
    expect(listed).toContain(`${name}@${locked[`node_modules/${name}`]?.version}`);
  expect(listed).toContain(`node-${process.platform}-${process.arch}@${process.versions.node}`);
  expect([...listed].filter((reference) => /^(?:eslint|vite|typescript)@/.test(reference))).toEqual([]);
  // Each package that the image holds beside ours, and each whose licence is passed on.
  const manifests = readdirSync(join(image, "opt/gradus/node_modules"), { recursive: true, encoding: "utf8" }).filter(
    (path) => /^(?:.*node_modules\/)?(?:@[^/]+\/)?[^/]+\/package\.json$/.test(path),
  );
  const held = manifests.map((path) => {
    const text = readFileSync(join(image, "opt/gradus/node_modules", path), "utf8");
    const { name, version } = JSON.parse(text) as { readonly name: string; readonly version: string };
    return `${name}@${version}`;
  });
  expect(held.length).toBeGreaterThan(20);
  expect(held.filter((reference) => !listed.has(reference))).toEqual([`gradus@${version}`]);
  const licences = readFileSync(join(image, "opt/gradus/node_modules/gradus/LICENSES-OF-LIBRARIES"), "utf8");
  const licensed = [...licences.matchAll(/^(\S+) (\d\S*) \([^)\n]+\)$/gm)].map(
    ([, name, version]) => `${name}@${version}`,
  );
  expect(licensed).toContain(`preact@${locked["node_modules/preact"]?.version}`);
  expect(licensed.filter((reference) => !listed.has(reference))).toEqual([]);
});

test("the package locks the versions of all that is installed with it, and npm takes them", async () => {
  const path = empty("locked");
  await typed(`tar -xzf ${release}/gradus-${version}.tgz`, path);
  await typed("npm ci --ignore-scripts", join(path, "package"));
  const installed = readdirSync(join(path, "package/node_modules"), { recursive: true, encoding: "utf8" });
  const locked = packageLock.packages as Readonly<Record<string, { readonly version?: string }>>;
  const places = installed.filter((each) => /^(?:.*node_modules\/)?(?:@[^/]+\/)?[^/]+\/package\.json$/.test(each));
  expect(places.length).toBeGreaterThan(20);
  for (const place of places) {
    const text = readFileSync(join(path, "package/node_modules", place), "utf8");
    const { version: found } = JSON.parse(text) as { readonly version: string };
    expect(found, place).toBe(locked[`node_modules/${place.replace(/\/package\.json$/, "")}`]?.version);
  }
});

describe("the packages", () => {
  let project: string;
  let server: Serving;
  beforeAll(async () => {
    project = empty("project");
    writeFileSync(join(project, "package.json"), "{}");
    // npm's own script would fetch the Node that is on the path.
    await typed(
      `npm install --ignore-scripts ${release}/gradus-${version}.tgz ${release}/gradus-client-${version}.tgz`,
      project,
    );
    const env = { ...bare, GRADUS_DATA_DIR: join(project, "data") };
    server = await serve(join(project, "node_modules/.bin/gradus"), [], project, env);
  });
  afterAll(async () => server[Symbol.asyncDispose]());

  test("gradus has no source, and no file that it does not need", () => {
    const inside = readdirSync(join(project, "node_modules/gradus"), { recursive: true, encoding: "utf8" });
    const typescript = inside.filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"));
    expect(typescript).toEqual([]);
    expect(readdirSync(join(project, "node_modules/gradus")).filter((name) => !name.startsWith("."))).toEqual([
      "CHANGELOG.md",
      "LICENSE",
      "LICENSES-OF-LIBRARIES",
      "README.md",
      "cli",
      "dist",
      "npm-shrinkwrap.json",
      "package.json",
    ]);
  });

  test("gradus makes tasks, draws them, and reads pools of any format", async () => {
    const gradus = async (words: string): Promise<string> => typed(`node_modules/.bin/gradus ${words}`, project);
    expect(await gradus("--version")).toBe(`${version}\n`);
    expect(await gradus("envs")).toContain("np/tsp");
    expect(await gradus("reset qa --source real")).toContain("task id");
    expect(await gradus("draw np/clique --level easy --seed 3 --solve")).toContain("<svg");
    writeFileSync(
      join(project, "rows.csv"),
      `question,answer\n${Array.from({ length: 40 }, (_, i) => `What is ${i} + 1?,${i + 1}\n`).join("")}`,
    );
    expect(await gradus("pools check rows.csv --environment math")).toContain("40");
  });

  test("a module of environments is written with gradus/environment, and has its types", async () => {
    const words = `import { defineEnvironment } from "gradus/environment";
export default [defineEnvironment({
  id: "mine/capital", version: 1, description: "Name the capital.",
  rows: { read: (row) => ({ kind: "answer", answer: row }), defaultPool: { name: "mine", file: new URL("mine.jsonl", import.meta.url) } },
  render: ({ question }) => [{ role: "user", content: question }],
  parse: (text) => ({ kind: "answer", answer: text }),
  verify: ({ answer }, given) => given === answer ? { kind: "feasible" } : { kind: "infeasible", violation: "no" },
})];
`;
    writeFileSync(join(project, "mine.mjs"), words);
    const rows = Array.from({ length: 40 }, (_, i) => JSON.stringify({ question: `${i}?`, answer: String(i) }));
    writeFileSync(join(project, "mine.jsonl"), `${rows.join("\n")}\n`);
    const reset = "node_modules/.bin/gradus reset mine/capital --environment-file mine.mjs";
    expect(await typed(reset, project)).toContain("mine/capital");
    writeFileSync(
      join(project, "mine.mts"),
      words.replace("import {", "import { type Split,").replace("(row)", "(row: any)"),
    );
    const tsc = join(repository, "node_modules/typescript/bin/tsc");
    const options = "--ignoreConfig --noEmit --strict --module nodenext --lib esnext --types node";
    await typed(`node ${tsc} ${options} --typeRoots ${repository}/node_modules/@types mine.mts`, project);
  });

  test("@gradus/client works with the server: tasks, scores in threads and the sandbox, a run, its version", async () => {
    const words = `import { createClient } from "@gradus/client";
const client = createClient(${JSON.stringify(server.grpc)});
const info = await client.getServerInfo();
const task = await client.reset({ environment: "countdown", level: "T0", seed: 7 });
const outcome = await client.step(task, "<think>x</think><answer>82 - (97 - 44)</answer>");
const code = await client.reset({ environment: "code", seed: 1 });
const wrong = await client.step(code, "<think>x</think><answer>\`\`\`python\\ndef f(): pass\\n\`\`\`</answer>");
const run = client.run("one");
await run.create({ arms: [{ id: "t", environment: "np/tsp" }], policy: { kind: "mixture" }, numGenerations: 2, promptsPerUpdate: 2 });
const { tasks } = await run.nextBatch({ cursor: 0n });
console.log(JSON.stringify([info.version, info.ports.find((p) => p.name === "sandbox").missing, outcome.reward, wrong.kind, tasks.length]));
client.close();
`;
    writeFileSync(join(project, "client.mjs"), words);
    const [said, sandbox, reward, kind, tasks] = JSON.parse(await typed("node client.mjs", project)) as unknown[];
    expect([said, sandbox, reward, kind, tasks]).toEqual([version, "", 1, "scored", 2]);
  });

  test("gradus keeps runs in PostgreSQL, whose tables it makes by files of its own", async () => {
    const env = { ...bare, GRADUS_DATA_DIR: join(project, "second"), GRADUS_STORE: await sharedDatabase() };
    await using second = await serve(join(project, "node_modules/.bin/gradus"), [], project, env);
    expect(await typed(`node_modules/.bin/gradus version --server ${second.grpc}`, project)).toMatch(
      /^store +postgres$/m,
    );
  });

  test("the start of a server says which build it is", () => {
    expect(JSON.parse(server.lines[0] ?? "{}")).toMatchObject({ version, msg: "starting" });
  });

  test("the wheel works with the server", async () => {
    const path = empty("wheel");
    await typed(`${repository}/.venv/bin/python -m venv --without-pip venv`, path);
    const pip = `${repository}/.venv/bin/python -m pip --python venv/bin/python --disable-pip-version-check`;
    await typed(`${pip} install --quiet --no-deps ${release}/gradus_gym-${version}-py3-none-any.whl`, path);
    const [site] = (
      await typed(
        `${repository}/.venv/bin/python -c 'import grpc, os; print(os.path.dirname(os.path.dirname(grpc.__file__)))'`,
        path,
      )
    ).split("\n");
    writeFileSync(
      join(path, "client.py"),
      `import gradus
with gradus.Client("${server.grpc}") as client:
    task = client.reset("countdown", level="T0", seed=7)
    outcome = client.step(task, "<think>x</think><answer>82 - (97 - 44)</answer>")
    print(gradus.__version__, client.get_server_info().version, outcome.reward, "/venv/" in gradus.__file__)
`,
    );
    const env = { ...bare, PYTHONPATH: site };
    expect(await typed("venv/bin/python client.py", path, { env })).toBe(`${version} ${version} 1.0 True\n`);
  });
});

test("the image's folder is small, and starts from where it lies without root, and is healthy", async () => {
  const bytes = Number((await typed(`du -sb ${image}`, folder.path)).split("\t")[0]);
  expect(bytes).toBeLessThan(300e6);
  const nodes = await typed(`find ${image} -name node -type f -size +1M`, folder.path);
  expect(nodes.trim().split("\n")).toHaveLength(1);
  const data = empty("image-data");
  chmodSync(data, 0o777);
  const gradus = join(image, "usr/local/bin/gradus");
  const drop = process.getuid?.() === 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : [];
  const [command = "", ...args] = [...drop, gradus];
  const env = { PATH: "/usr/bin:/bin", GRADUS_DATA_DIR: data };
  await using server = await serve(command, args, data, env);
  expect(server.lines.join("\n")).toContain('"port":"sandbox"');
  const health = join(image, "opt/gradus/node_modules/gradus/dist/health.js");
  const node = join(image, "opt/gradus/node_modules/node/bin/node");
  const port = new URL(server.http).port;
  await run(node, [health], { env: { ...env, GRADUS_HTTP_PORT: port } });
  expect(await (await fetch(`${server.http}/healthz`)).text()).toBe(`ok\ngradus ${version}\n`);
});
