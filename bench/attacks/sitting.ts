/**
 * How long programs that sit hold the sandbox, and how long another client's right program waits behind twelve of them, on a
 * server that runs one program at a time.
 *
 * ```
 * node bench/attacks/sitting.ts [--rounds 3] [--sleepers 12]
 * ```
 */
import { parseArgs } from "node:util";
import { createClient, type GradusClient, type Task } from "../../clients/ts/src/index.ts";
import { wrapAnswer } from "../../envs/answers/wording.ts";
import { openServer } from "../../test/support/in-process.ts";

const { values: options } = parseArgs({
  options: { rounds: { type: "string", default: "3" }, sleepers: { type: "string", default: "12" } },
});

const programs = {
  asleep: "import time\ntime.sleep(1e6)",
  "at work for 3% of the time":
    "import time\nwhile True:\n    t = time.perf_counter() + 0.0015\n    while time.perf_counter() < t: pass\n    time.sleep(0.0485)",
  "wrong at once": "pass",
} as const;

const answer = (program: string): string => wrapAnswer(`\`\`\`python\n${program}\n\`\`\``, "answer_tag");

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const startedAtMs = performance.now();
  await work();
  return (performance.now() - startedAtMs) / 1000;
}

/** Returns the outcome of one step of the program, and the seconds that it took. */
async function timed(client: GradusClient, task: Task, program: string): Promise<string> {
  let what = "";
  const took = await seconds(async () => {
    const outcome = await client.step(task, answer(program));
    what = outcome.kind === "scored" ? `reward ${outcome.reward}` : `no reward: ${outcome.detail}`;
  });
  return `${what} after ${took.toFixed(1)} s`;
}

await using server = await openServer({ sandbox: "embedded", sandboxConcurrency: "1" });
const task = await server.client.reset({ environment: "code", source: "real", answerFormat: "answer_tag", seed: 1n });
for (let round = 0; round < Number(options.rounds); round++) {
  for (const [name, program] of Object.entries(programs))
    console.log(`${name}: ${await timed(server.client, task, program)}`);
  const left = new AbortController();
  const sleeping = Array.from({ length: Number(options.sleepers) }, () =>
    server.client.step(task, answer(programs.asleep), { signal: left.signal }).catch(() => undefined),
  );
  // Once a later call on the same connection is answered, the sleepers' steps have reached the server.
  await server.client.reset({ environment: "countdown", seed: 1n });
  const other = createClient(server.address);
  console.log(
    `another client's, behind ${options.sleepers} that sleep: ${await timed(other, task, programs["wrong at once"])}`,
  );
  left.abort();
  other.close();
  await Promise.all(sleeping);
}
