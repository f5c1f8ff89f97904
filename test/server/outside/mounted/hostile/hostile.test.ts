/**
 * A hostile module and hostile answers of an environment that runs them as code, in the folder that the server was started in:
 * no secret is read, nobody else's answer is seen, no limit of the server is changed, and no process is left.
 */
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient, type GradusClient, type Task } from "../../../../../clients/ts/src/index.ts";
import { wrapAnswer } from "../../../../../envs/answers/wording.ts";
import { PYTHON } from "../../../../support/mounted/mounts.ts";
import { until } from "../../../../support/patience.ts";
import { type ServerProcess, startServerFrom, temporaryFolder } from "../../../../support/server-process.ts";

const TOKEN = "an-operators-token-CANARY-3";
const PACKAGE = join(import.meta.dirname, "../../../../../clients/python/src");

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Folder with an environment, and beside it files that the server hides. */
async function prepare(folder: string, without: readonly string[], allowed: readonly string[]) {
  const secret = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  for (const name of ["foreign.py", "attacks.py"]) copyFileSync(join(import.meta.dirname, name), join(folder, name));
  // Modules that Python would import by mistake if this folder were on its path at the start.
  for (const name of ["sitecustomize.py", "usercustomize.py", "select.py", "array.py"])
    writeFileSync(join(folder, name), 'import os; open(os.environ["TMPDIR"] + "/ran-before-the-walls", "w").close()\n');
  mkdirSync(join(folder, ".data"));
  mkdirSync(join(folder, "tmp"));
  const tokens = secret("tokens.yaml", `# CANARY-1\n- {name: me, role: operator, token: ${TOKEN}}\n`);
  const keys = secret("task-keys", `# CANARY-2\n${"a1".repeat(32)}\n`);
  const secrets = [tokens, keys, secret(".data/task-keys", "# CANARY-4\n")];
  const ports = [await freePort(), await freePort()];
  writeFileSync(join(folder, "target.json"), JSON.stringify({ secrets, ports, module: "foreign" }));
  // The interpreter's parent is the server, which a hostile module may know.
  const python = join(folder, "python.sh");
  writeFileSync(python, `#!/bin/sh\necho $PPID > "${folder}/server.txt"\nexec "${PYTHON}" "$@" ${without.join(" ")}\n`);
  chmodSync(python, 0o755);
  const flags = [
    "--tokens-file",
    "tokens.yaml",
    "--key-file",
    "task-keys",
    "--python",
    "foreign.py",
    "--python",
    python,
  ];
  const [port, httpPort] = ports;
  const more = [
    "--port",
    `${port}`,
    "--http-port",
    `${httpPort}`,
    "--mount-workers",
    "1",
    "--sandbox",
    "off",
    ...allowed,
  ];
  const env = { ...process.env, TMPDIR: join(folder, "tmp"), PYTHONPATH: `${PACKAGE}::.`, SECRET: "CANARY-5" };
  return () => startServerFrom(folder, env, ".data", ...flags, ...more);
}

/** Process ids in the groups of a server's hosts. A process that forks and ends without end may hide from a single look. */
function processesOf(groups: readonly number[]): readonly number[] {
  const look = (): readonly number[] =>
    readdirSync("/proc").flatMap((name) => (groups.includes(statOf(name)?.group ?? 0) ? [Number(name)] : []));
  return [...new Set(Array.from({ length: 5 }, look).flat())];
}

function statOf(pid: string) {
  try {
    // Processes that have ended but are not yet cleared away are left out.
    const [, name = "", parent = "", group = ""] =
      /\((.*)\) [^Z] (\d+) (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    return { name, parent: Number(parent), group: Number(group) };
  } catch {
    return undefined;
  }
}

/** Returns a server's hosts, each the leader of a process group. */
function hostsOf(server: ServerProcess): readonly number[] {
  return readdirSync("/proc").flatMap((name) => {
    const stat = statOf(name);
    return stat?.parent === server.pid && stat.group === Number(name) ? [Number(name)] : [];
  });
}

function limitsOf(pid: number): string {
  const scheduling = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ").slice(15, 17).join(" ") ?? "";
  const allowed = /Cpus_allowed:.*/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[0] ?? "";
  const [limits, name, oom] = ["limits", "comm", "oom_score_adj"].map((file) =>
    readFileSync(`/proc/${pid}/${file}`, "utf8"),
  );
  return [limits, name, oom, scheduling, allowed].join("\n");
}

const promptOf = ({ prompt }: Task): string => prompt[0]?.content ?? "";
const numberOf = (task: Task): string => /Say (\d+)/.exec(promptOf(task))?.[1] ?? "";
const answered = (text: string): string => wrapAnswer(text, "think_answer");

let usual = "";
beforeAll(async () => {
  using folder = temporaryFolder();
  const server = await startServerFrom(folder.path, process.env, join(folder.path, "data"));
  usual = limitsOf(server.pid);
  await server.kill("SIGTERM");
});

describe.each([
  { walls: "all walls", without: [], allowed: [], isTried: () => true },
  { walls: "namespaces alone", without: ["landlock"], allowed: [], isTried: () => true },
  { walls: "Landlock alone", without: ["namespaces"], allowed: [], isTried: () => true },
  // Allowing one host opens the whole network, including the server's ports, but no connection as a worker.
  ...[[], ["namespaces"]].map((without) => ({
    walls: `a network, without ${without.join() || "nothing"}`,
    without,
    allowed: ["--allow", "net=hub.example"],
    isTried: (name: string) => !/^a3[89]_/.test(name) && /^a(0|2[0-8]|[35])/.test(name),
  })),
])("with $walls", ({ without, allowed, isTried }) => {
  const folder = temporaryFolder();
  let start: () => Promise<ServerProcess>;
  let server: ServerProcess;
  let client: GradusClient;
  let task: Task;
  let isRefused = false;
  /** Draws a task. A server listens before its mount is ready, and a host that ends until then ends the server. */
  const drawn = (): Promise<Task> => client.reset({ environment: "mine/foreign", level: "default", seed: 1 });
  beforeAll(async () => {
    start = await prepare(folder.path, without, allowed);
    try {
      server = await start();
    } catch (error) {
      // A kernel that does not give the one wall that is left runs nothing at all.
      if (!String(error).includes("neither Landlock")) throw error;
      isRefused = true;
      return;
    }
    client = createClient(server.address, { token: TOKEN });
    task = await drawn();
  });
  afterAll(() => {
    if (!isRefused) client.close();
    folder[Symbol.dispose]();
  });

  test("a module reads nothing of the server's while it is imported, and changes none of its limits", () => {
    if (isRefused) return;
    const found = JSON.parse(promptOf(task).split("\n")[1] ?? "") as Readonly<Record<string, string>>;
    expect(Object.keys(found).length).toBeGreaterThan(40);
    const leaks = Object.entries(found).filter(([name, said]) => isTried(name) && said.startsWith("LEAK"));
    expect(leaks).toEqual([]);
    expect(limitsOf(server.pid)).toBe(usual);
  });

  const attacks = readFileSync(join(import.meta.dirname, "attacks.py"), "utf8").matchAll(/^def (a\d\d_\w+)/gm);
  test.each([...attacks].map(([, name]) => name as string).filter(isTried))(
    "an answer that tries %s sees and changes nothing",
    async (name) => {
      if (isRefused) return;
      const neighbour = (sample: number): string => `NEIGHBOUR-SAYS-${1000 + sample}`;
      const attack = `excerpt("${name}")`;
      const texts = [neighbour(0), attack, neighbour(2), attack, numberOf(task), neighbour(5)];
      const completions = texts.map((text, sampleIndex) => ({ sampleIndex, text: answered(text) }));
      const [group] = await client.batchStep([{ task, completions }]);
      const rewards = group?.outcomes.map((outcome) => (outcome.kind === "scored" ? outcome.reward : outcome.detail));
      expect(rewards?.[4]).toBe(1);
      for (const sample of [0, 1, 2, 3, 5]) expect(rewards?.[sample]).not.toBe(1);
      expect(JSON.stringify(group?.outcomes)).not.toContain("LEAK");
      expect(limitsOf(server.pid)).toBe(usual);
    },
  );

  test("all processes end with the server, and nothing of its hosts stays in the folder of temporary files", async () => {
    if (isRefused) return;
    const hosts = hostsOf(server);
    expect(processesOf(hosts).length).toBeGreaterThan(2);
    expect(await server.kill("SIGTERM")).toBe(0);
    await until(() => processesOf(hosts).length === 0);
    expect(readdirSync(join(folder.path, "tmp"))).toEqual([]);
  });

  test("they end too when the host's first process is killed, when the server is, and when both are", async () => {
    if (isRefused) return;
    server = await start();
    await drawn();
    const [first = 0] = hostsOf(server);
    process.kill(first, "SIGKILL");
    await until(() => processesOf([first]).length === 0 || hostsOf(server).some((pid) => pid !== first));
    await until(() => hostsOf(server).length === 1 && processesOf(hostsOf(server)).length > 2);
    expect(processesOf([first]).filter((pid) => statOf(`${pid}`)?.group === first)).toEqual([]);
    const hosts = hostsOf(server);
    await server.kill("SIGKILL");
    await until(() => processesOf(hosts).length === 0);
    await until(() => readdirSync(join(folder.path, "tmp")).length === 0);
    server = await start();
    await drawn();
    const others = hostsOf(server);
    for (const pid of others) process.kill(pid, "SIGKILL");
    await server.kill("SIGKILL");
    await until(() => processesOf(others).length === 0);
  });
});
