/**
 * One student of 300 mounted arms through the real server: bench/curriculum/many-arms.ts says which arms it can learn, its
 * completions are right as often as it would be, a Python file makes and verifies the tasks, and the server's own draws
 * decide what it practises. What the simulation of bench/curriculum/run.ts came to is held against this.
 *
 *   node bench/mounted/many-arms.ts [--python .venv/bin/python] [--policy frontier,mixture] [--seed reported/0]
 *                                   [--batches 1500] [--json]
 *
 * A run ends when the student has arrived, or after so many update batches of 256 prompts with 8 completions.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createClient, type GradusClient, type PolicyChoice } from "../../clients/ts/src/index.ts";
import { wrapAnswer } from "../../envs/answers/wording.ts";
import { rngFor } from "../../envs/lib/rng.ts";
import { lifeCounter } from "../../server/simulation/life.ts";
import { type Practice, scoreOf } from "../../server/simulation/student.ts";
import { startServerIn, temporaryFolder } from "../../test/support/server-process.ts";
import { student as family } from "../curriculum/many-arms.ts";

const { values: options } = parseArgs({
  options: {
    python: { type: "string", default: ".venv/bin/python" },
    policy: { type: "string", default: "frontier,mixture" },
    seed: { type: "string", default: "reported/0" },
    batches: { type: "string", default: "1500" },
    json: { type: "boolean", default: false },
  },
});

const PATIENCE_MS = 600_000;
const { places, shape } = family;
const armOf = new Map(places.map(({ id }, arm) => [id, arm]));

/** One update batch: what was practised. */
async function practise(client: GradusClient, run: string, cursor: bigint, solves: (arm: number) => number) {
  const { tasks, nextCursor } = await client.run(run).nextBatch({ cursor }, { deadlineMs: PATIENCE_MS });
  const practice: Practice[] = [];
  const groups = tasks.map((task) => {
    const arm = armOf.get(task.armId) ?? -1;
    const solved = solves(arm);
    practice.push({ arm, solved, samples: shape.numGenerations });
    const number = /Say (\d+)\./.exec(task.prompt[0]?.content ?? "")?.[1] ?? "";
    const texts = Array.from({ length: shape.numGenerations }, (_, i) => (i < solved ? number : "not that"));
    const completions = texts.map((text, sampleIndex) => ({ sampleIndex, text: wrapAnswer(text, "think_answer") }));
    return { task, completions };
  });
  for (const { outcomes } of await client.batchStep(groups, { deadlineMs: PATIENCE_MS }))
    for (const outcome of outcomes) if (outcome.kind !== "scored") throw new Error(`no score: ${outcome.detail}`);
  return { practice, nextCursor };
}

async function live(client: GradusClient, kind: string, batches: number) {
  const student = family.create(options.seed, places);
  const rng = rngFor("luck", options.seed, kind);
  let mind = student.initial;
  const run = client.run(kind);
  const { promptsPerUpdate, numGenerations } = shape;
  const arms = places.map(({ id }) => ({ id, environment: "bench/many", level: id }));
  await run.create({ arms, policy: { kind } as PolicyChoice, promptsPerUpdate, numGenerations, seed: 1 });
  const solves = (arm: number): number => {
    const chance = student.chance(mind, arm, 0.001 + 0.998 * rng.float());
    return Array.from({ length: numGenerations }, () => rng.float()).filter((luck) => luck < chance).length;
  };
  const counter = lifeCounter(student, numGenerations);
  let played = 0;
  for (let cursor = 0n; played < batches && counter.life().final < student.target; played++) {
    const { practice, nextCursor } = await practise(client, kind, cursor, solves);
    mind = student.learn(mind, practice);
    const counts = places.map(() => 0);
    for (const { arm } of practice) counts[arm] = (counts[arm] ?? 0) + 1;
    const useful = practice.filter(({ solved, samples }) => solved > 0 && solved < samples).length;
    counter.add({ counts, useful, score: scoreOf(student, mind) });
    cursor = nextCursor;
  }
  return { policy: kind, batches: played, ...counter.life() };
}

using folder = temporaryFolder();
const flags = ["--python", options.python, "--python", join(import.meta.dirname, "many_arms.py")];
const env = { ...process.env, PYTHONPATH: join(import.meta.dirname, "../../clients/python/src") };
const server = await startServerIn(env, folder.path, ...flags);
const client = createClient(server.address);
for (const kind of options.policy.split(",")) {
  const found = await live(client, kind, Number(options.batches));
  console.log(options.json ? JSON.stringify(found) : found);
}
client.close();
await server.kill("SIGTERM");
