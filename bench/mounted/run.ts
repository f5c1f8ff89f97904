/**
 * Measures the cost of mounting: CPU a completion of a mounted environment, Node and its worker together.
 * Verification alone in the same Python stands beside it. A group of 256 answers to one instance is verified as a
 * Step's is,
 * through the gate of the environment's resource. The two are measured by turns.
 *
 * ```
 * node bench/mounted/run.ts [--python .venv/bin/python] [--pairs 15] [--levels 1,20,50,200] [--json]
 * ```
 *
 * The bar is 1.3 times verification alone if that takes 50 µs or more, and 20 µs more if it takes less.
 * Exits with 1 if the bar is missed.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { parseArgs } from "node:util";
import { systemClock } from "../../server/base/system-clock.ts";
import { createResources } from "../../server/outside/gate/resources.ts";
import { readDescribed } from "../../server/outside/mounted/read-description.ts";
import { mountedEnvironment, type MountedEnvironment } from "../../server/outside/mounted/mounted-environment.ts";
import type { MountedInstance } from "../../server/outside/mounted/mounted-instance.ts";
import { openLocal } from "../../server/outside/mounted/local-provider.ts";

const { values: options } = parseArgs({
  options: {
    python: { type: "string", default: ".venv/bin/python" },
    pairs: { type: "string", default: "15" },
    levels: { type: "string", default: "1,20,50,200" },
    json: { type: "boolean", default: false },
  },
});

const FILE = join(import.meta.dirname, "verifiers.py");
const GROUP = 256;
/** Answers that a mount of one worker verifies at once (server/outside/mounted/open-mounts.ts). */
const ANSWERS_AT_ONCE = 128;
/** Limits of one turn of verification alone: the duration, in microseconds, and the number of groups. */
const TURN_US = 200_000;
const GROUPS_MAX = 80;
const BAR = { fromUs: 50, times: 1.3, moreUs: 20 } as const;
const answers = Array.from({ length: GROUP }, (_, i) => `an answer, number ${i}`);

/** Microseconds a completion. */
interface Turn {
  readonly node: number;
  readonly worker: number;
}

interface Alone {
  measure(level: string, count: number): Promise<number>;
  close(): void;
}

function startAlone(): Alone {
  const child: ChildProcessWithoutNullStreams = spawn(options.python, ["-B", FILE], { stdio: "pipe" });
  child.stderr.pipe(process.stderr);
  const lines: Interface = createInterface(child.stdout);
  const said = lines[Symbol.asyncIterator]();
  return {
    async measure(level, count) {
      child.stdin.write(`${level} ${count}\n`);
      const { value, done } = await said.next();
      if (done === true) throw new Error(`${options.python} ${FILE} ended`);
      return Number(value) / 1000 / count;
    },
    close: () => child.stdin.end(),
  };
}

/** Returns the CPU time, in microseconds, of all the host's workers together, as the scheduler counts it. */
function workersUs(hostPid: number): number {
  const tasks = readdirSync(`/proc/${hostPid}/task`);
  const children = tasks.flatMap((task) =>
    readFileSync(`/proc/${hostPid}/task/${task}/children`, "utf8").trim().split(" "),
  );
  const ns = children
    .filter((pid) => pid !== "")
    .map((pid) => Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]));
  return ns.reduce((sum, each) => sum + each, 0) / 1000;
}

async function openRounds() {
  const opened = await openLocal({
    python: options.python,
    target: FILE,
    workers: 1,
    memoryMib: 1024,
    allow: { read: [], net: [] },
    onFault: (why) => console.error(why),
  });
  if (opened.kind === "failed") throw new Error(opened.why);
  const { provider } = opened;
  const read = readDescribed(provider.described);
  const described = read.kind === "ok" ? read.environments[0] : undefined;
  if (described === undefined) throw new Error("the host describes no environment");
  const environment = mountedEnvironment(described, {
    mount: FILE,
    provider,
    concurrency: ANSWERS_AT_ONCE,
    // The laws are not tried, because that is no part of the measurement.
    lawful: () => Promise.resolve({ kind: "lawful" }),
    found: () => undefined,
    onBroken: console.error,
  });
  return { provider, environment, described };
}

type Rounds = Awaited<ReturnType<typeof openRounds>>;

async function instanceOf({ environment, described }: Rounds, level: string): Promise<MountedInstance> {
  const number = described.levels.find(({ name }) => name === level)?.number;
  if (number === undefined)
    throw new Error(`--levels must name ${described.levels.map(({ name }) => name).join(", ")}`);
  const tasks = { parameters: { level: number }, split: "train", seeds: [1n] } as const;
  const context = { signal: AbortSignal.timeout(60_000), deadlineMs: Infinity };
  const [made] = (await environment.asked?.make(tasks, context)) ?? [];
  if (made?.kind !== "made") throw new Error(`level ${level} made no instance`);
  return made.instance;
}

type Verify = (answer: string) => Promise<unknown>;

function verifierOf(
  environment: MountedEnvironment,
  instance: MountedInstance,
  resources: ReturnType<typeof createResources>,
): Verify {
  const { resource } = environment;
  return async (answer) => {
    const outcome = await resources.run(resource, {
      party: { caller: "bench", connection: "bench" },
      bytes: answer.length,
      signal: undefined,
      deadlineMs: undefined,
      verify: (context) => environment.verify(instance, answer, context),
    });
    if (outcome.kind !== "infeasible") throw new Error(`an answer came to ${JSON.stringify(outcome)}`);
  };
}

async function mountedTurn(pid: number, verify: Verify, groups: number): Promise<Turn> {
  const [worker, cpu] = [workersUs(pid), process.cpuUsage()];
  for (let i = 0; i < groups; i++) await Promise.all(answers.map(verify));
  const { user, system } = process.cpuUsage(cpu);
  const count = groups * GROUP;
  return { node: (user + system) / count, worker: (workersUs(pid) - worker) / count };
}

function spreadOf(values: readonly number[]) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => Number((sorted[Math.round(share * (sorted.length - 1))] ?? 0).toFixed(2));
  return { median: at(0.5), from: at(0), to: at(1) };
}

async function measured(level: string, alone: Alone, rounds: Rounds, verify: Verify) {
  const pid = rounds.provider.hostPid() ?? 0;
  const roughUs = await alone.measure(level, GROUP * 8);
  const groups = Math.max(2, Math.min(GROUPS_MAX, Math.round(TURN_US / GROUP / roughUs)));
  await mountedTurn(pid, verify, GROUPS_MAX / 4);
  const pairs: { readonly alone: number; readonly mounted: Turn }[] = [];
  for (let i = 0; i < Number(options.pairs); i++) {
    const first = i % 2 === 0 ? await alone.measure(level, groups * GROUP) : undefined;
    const mounted = await mountedTurn(pid, verify, groups);
    pairs.push({ alone: first ?? (await alone.measure(level, groups * GROUP)), mounted });
  }
  const whole = ({ node, worker }: Turn): number => node + worker;
  const ratio = spreadOf(pairs.map((pair) => whole(pair.mounted) / pair.alone));
  const moreUs = spreadOf(pairs.map((pair) => whole(pair.mounted) - pair.alone));
  const aloneUs = spreadOf(pairs.map((pair) => pair.alone));
  const isMet = aloneUs.median >= BAR.fromUs ? ratio.median <= BAR.times : moreUs.median <= BAR.moreUs;
  const nodeUs = spreadOf(pairs.map(({ mounted }) => mounted.node));
  const workerUs = spreadOf(pairs.map(({ mounted }) => mounted.worker));
  return { level, aloneUs, nodeUs, workerUs, ratio, moreUs, isMet };
}

// Hosts use this checkout's Python package, whichever is installed.
process.env["PYTHONPATH"] = join(import.meta.dirname, "../../clients/python/src");
const alone = startAlone();
const rounds = await openRounds();
const resources = createResources({ clock: systemClock, onFailure: console.error });
const found = [];
for (const level of options.levels.split(",")) {
  const verify = verifierOf(rounds.environment, await instanceOf(rounds, level), resources);
  found.push(await measured(level, alone, rounds, verify));
}
alone.close();
resources.close();
await rounds.provider.close();
if (options.json) console.log(JSON.stringify(found, undefined, 2));
else {
  const shown = ({ median, from, to }: ReturnType<typeof spreadOf>): string => `${median} (${from} to ${to})`;
  console.table(
    found.map(({ aloneUs, nodeUs, workerUs, ratio, moreUs, isMet, level }) => ({
      "about, µs": level,
      alone: shown(aloneUs),
      Node: shown(nodeUs),
      worker: shown(workerUs),
      times: shown(ratio),
      more: shown(moreUs),
      met: isMet,
    })),
  );
}
if (found.some(({ isMet }) => !isMet)) process.exitCode = 1;
