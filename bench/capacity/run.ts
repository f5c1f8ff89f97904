/**
 * Measures where a server's processor time goes, for sizing: a scored completion of each environment, a made task, a
 * run's memory.
 * Times are processor time of the server and all its processes, so that a busy machine changes them little.
 * The table of docs/guides/capacity.md is this program's output.
 *
 * ```
 * node bench/capacity/run.ts [--seconds 3] [--environment np/tsp] [--runs 200] [--json]
 * node bench/capacity/run.ts --environment none --store postgres://… --database-pid PID
 * ```
 *
 * Groups have 16 completions of 4 KB, half of them right if there is a solver or a solution, at the hardest trainable
 * level.
 * A BatchSteps request has four groups, and eight requests are in flight.
 * If the environment asks a sandbox or a judge, a request has one group, and one is in flight. The judge answers at
 * once.
 */
import { readdirSync, readFileSync } from "node:fs";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { createClient, type GradusClient, type Task } from "../../clients/ts/src/index.ts";
import type { Environment } from "../../envs/environment.ts";
import { makeGenerated } from "../../envs/instances.ts";
import { environments } from "../../envs/registry.ts";
import { startChatServer } from "../../test/support/chat-server.ts";
import { says, verdict } from "../../test/support/judge.ts";
import { startFull, temporaryFolder } from "../../test/support/server-process.ts";
import { machineText } from "../transport/report.ts";

const { values: options } = parseArgs({
  options: {
    seconds: { type: "string", default: "3" },
    environment: { type: "string", multiple: true, default: environments.map(({ id }) => id) },
    runs: { type: "string", default: "200" },
    store: { type: "string", default: "sqlite" },
    "database-pid": { type: "string" },
    json: { type: "boolean", default: false },
  },
});

const { "database-pid": databasePid } = options;
const [TASKS, GROUPS, COMPLETIONS, CHARACTERS, IN_FLIGHT] = [64, 4, 16, 4096, 8];
/** Load for environments that ask a sandbox or a judge: one group a message, one message at a time. */
const SLOW = { groups: 1, inFlight: 1 };
const PROMPTS = 64;
/** Linux's clock ticks a second; /proc counts in them. */
const TICKS = 100;

/** Returns the processor seconds of a process and of all its descendants, including those that have ended. */
function cpuSeconds(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const own = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 15)
      .map(Number);
    const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").trim().split(" ").filter(Boolean),
    );
    return (
      own.reduce((sum, ticks) => sum + ticks, 0) / TICKS +
      children.reduce((sum, child) => sum + cpuSeconds(Number(child)), 0)
    );
  } catch {
    // The process ended meanwhile, and its parent's figures include its time.
    return 0;
  }
}

const rssBytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;

type Row = Readonly<Record<string, string | undefined>>;
const rowsOf = (environment: string): readonly Row[] =>
  readFileSync(`envs/${environment}/pool.jsonl`, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Row);

/** Returns a right answer to the task; undefined: none is known. */
function answerOf(
  environment: Environment,
  task: Task,
  parameters: Readonly<Record<string, number>>,
  seed: number,
): string {
  const { generator, solver } = environment;
  if (generator !== undefined && solver !== undefined) {
    const made = makeGenerated(environment, { parameters, seed: BigInt(seed), split: "train" });
    if (made.kind !== "made") throw new Error(`${environment.id}: no task of seed ${seed}`);
    return solver.format(solver.solve(made.instance).answer);
  }
  const prompt = task.prompt.map(({ content }) => content).join("\n");
  const find = (column: string): Row | undefined =>
    rowsOf(environment.id).find((row) => prompt.includes(row[column] ?? ""));
  if (environment.id === "code") return `\`\`\`python\n${find("prompt")?.["solution"]}\`\`\``;
  if (environment.id === "math") return find("problem")?.["answer"] ?? "1";
  if (environment.id === "qa") return find("question")?.["answer"] ?? "A";
  return "The rain had been falling for a week when the letter came, and nobody in the house dared to open it.";
}

const THOUGHTS = "we try the nearest first and then exchange two of them, for it may be shorter so. ".repeat(64);
const completion = (answer: string, index: number): string => {
  const tail = `${index}</think>\n${index % 2 === 0 ? `<answer>${answer}</answer>` : "<answer>I do not know.</answer>"}`;
  return `<think>${THOUGHTS.slice(0, Math.max(0, CHARACTERS - tail.length - 7))}${tail}`;
};

const texts = (answer: string): readonly string[] =>
  Array.from({ length: COMPLETIONS }, (_, i) => completion(answer, i));

async function measure(client: GradusClient, pid: number, environment: Environment) {
  const { id, levels, generator } = environment;
  const level = levels.findLast(({ evaluationOnly }) => evaluationOnly !== true) ?? levels[0];
  const generated = generator !== undefined && level !== undefined;
  const choice = {
    environment: id,
    answerFormat: "think_answer",
    ...(generated ? { level: level.name } : { source: "real" as const }),
  } as const;
  const make = async (from: number, count: number) => {
    const seeds = Array.from({ length: count }, (_, i) => BigInt(from + i));
    const results = await client.batchReset({ ...choice, seeds });
    return results.map(({ result }) => {
      if (result.case !== "task") throw new Error(`${id}: ${JSON.stringify(result.value)}`);
      return result.value;
    });
  };
  const tasks = await make(0, TASKS);
  const beforeMaking = cpuSeconds(pid);
  const count = 4 * TASKS;
  for (let i = 1; i <= 4; i += 1) await make(i * TASKS, TASKS);
  const makingMs = ((cpuSeconds(pid) - beforeMaking) / count) * 1000;

  const groups = tasks.map((task, seed) => {
    const answer = answerOf(environment, task, generated ? level.parameters : {}, seed);
    return { task, completions: texts(answer) };
  });
  const pace = environment.resource === undefined ? { groups: GROUPS, inFlight: IN_FLIGHT } : SLOW;
  let [at, scored, rewarded] = [0, 0, 0];
  const until = { ms: 0 };
  const work = async (): Promise<void> => {
    while (performance.now() < until.ms) {
      const from = (pace.groups * at++) % TASKS;
      for (const { outcomes } of await client.batchStep(groups.slice(from, from + pace.groups)))
        for (const outcome of outcomes) {
          scored += 1;
          if (outcome.kind === "scored") rewarded += 1;
        }
    }
  };
  const go = async (seconds: number): Promise<void> => {
    until.ms = performance.now() + seconds * 1000;
    await Promise.all(Array.from({ length: pace.inFlight }, work));
  };
  await go(1);
  [scored, rewarded] = [0, 0];
  const before = cpuSeconds(pid);
  await go(Number(options.seconds));
  const micros = ((cpuSeconds(pid) - before) / scored) * 1e6;
  return {
    environment: id,
    level: generated ? level.name : "rows",
    micros,
    perCoreSecond: 1e6 / micros,
    makingMs,
    scored,
    rewarded,
  };
}

/** Measures the memory of runs that each have an open update batch of countdown. */
async function memoryOfRuns(client: GradusClient, pid: number, count: number) {
  const open = async (i: number): Promise<void> => {
    const run = client.run(`capacity-${i}`);
    await run.create({
      arms: [{ id: "a", environment: "countdown", level: "T2" }],
      policy: { kind: "mixture" },
      numGenerations: COMPLETIONS,
      promptsPerUpdate: PROMPTS,
    });
    const { tasks } = await run.nextBatch();
    await client.batchStep(tasks.map((task) => ({ task, completions: texts("1") })));
  };
  for (let i = 0; i < 20; i += 1) await open(i);
  const databaseCpu = (): number => (databasePid === undefined ? 0 : cpuSeconds(Number(databasePid)));
  const database = databaseCpu();
  const [rss, cpu] = [rssBytes(pid), cpuSeconds(pid)];
  for (let i = 20; i < 20 + count; i += 1) await open(i);
  const samples = count * PROMPTS * COMPLETIONS;
  return {
    runs: count,
    kilobytesARun: (rssBytes(pid) - rss) / count / 1024,
    rssMegabytes: rssBytes(pid) / 2 ** 20,
    microsASample: ((cpuSeconds(pid) - cpu) / samples) * 1e6,
    databaseMicrosASample: ((databaseCpu() - database) / samples) * 1e6,
  };
}

await using judge = await startChatServer(() => says(verdict("A")));
using folder = temporaryFolder();
const flags = [
  "--workers",
  "1",
  "--judge-url",
  judge.url,
  "--judge-model",
  "stand-in",
  "--judge-concurrency",
  "64",
  "--store",
  options.store,
];
const server = await startFull(process.cwd(), process.env, folder.path, ...flags);
const client = createClient(server.address);
const idleMegabytes = rssBytes(server.pid) / 2 ** 20;
const rows = [];
for (const environment of environments.filter(({ id }) => options.environment.includes(id))) {
  console.error(environment.id);
  rows.push(await measure(client, server.pid, environment));
}
const memory = await memoryOfRuns(client, server.pid, Number(options.runs));
client.close();
await server.kill("SIGTERM");

const machine = machineText(cpus(), process.version);
if (options.json) console.log(JSON.stringify({ machine, idleMegabytes, rows, memory }, undefined, 2));
else {
  console.log(
    `${machine}\n\n| environment | level | µs of CPU a completion | completions a core-second | ms of CPU a task made |\n| --- | --- | --- | --- | --- |`,
  );
  for (const { environment, level, micros, perCoreSecond, makingMs, scored, rewarded } of rows)
    console.log(
      `| ${environment} | ${level} | ${micros.toFixed(1)} | ${Math.round(perCoreSecond)} | ${makingMs.toFixed(2)} |${rewarded < scored ? ` (${scored - rewarded} of ${scored} without a reward)` : ""}`,
    );
  console.log(
    `\nidle: ${Math.round(idleMegabytes)} MB; ${memory.runs} runs: ${memory.kilobytesARun.toFixed(0)} KB each, ${Math.round(memory.rssMegabytes)} MB in all, ${memory.microsASample.toFixed(1)} µs of CPU a sample with its task and its record, and ${memory.databaseMicrosASample.toFixed(1)} of the database`,
  );
}
