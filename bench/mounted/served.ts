/**
 * All of a mount as a server has it: how long it takes to be there, which environments are served and what is named with a
 * reason, and whether an answer that hangs, raises or reaches out comes to a reward. README.md says how to run it.
 */
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import type { Environment } from "../../envs/environment.ts";
import { openMounts } from "../../server/outside/mounted/open-mounts.ts";

const { values } = parseArgs({
  options: {
    mount: { type: "string", default: "reasoning-gym" },
    python: { type: "string", default: "python3" },
    workers: { type: "string", default: String(availableParallelism()) },
  },
});

const HOSTILE = ["9**9**9", "1".repeat(1_000_000), "__import__('os')._exit(0)", "[".repeat(50_000), "nan", ""];
const context = {
  signal: new AbortController().signal,
  deadlineMs: Infinity,
  attempt: 1,
  attemptsMax: 1,
  ports: {},
};

const named = new Map<string, string>();
const beganMs = performance.now();
const seconds = (): string => `${((performance.now() - beganMs) / 1000).toFixed(1)} s`;
const opened = await openMounts(
  {
    mounts: [{ kind: "host", name: values.mount, target: values.mount }],
    python: values.python,
    allow: { read: [], net: [] },
    workers: Number(values.workers),
    memoryMib: 1024,
    hidden: [],
    reload: false,
    replacedGraceMs: 60_000,
  },
  {
    onProgress: (_, done, total) => {
      if (done % 50 === 0) console.error(`${done} of ${total} levels tried, ${seconds()}`);
    },
    onMount: ({ host, environments, levels, untried, refused }) => {
      console.log(
        `mounted in ${seconds()}: ${environments} environments, ${levels} levels, ${untried} to be tried; ${host}`,
      );
      for (const { name, reason } of refused) {
        named.set(name, reason);
        console.log(`left out  ${name}: ${reason}`);
      }
    },
    onRefused: ({ name, reason }) => {
      named.set(name, reason);
      console.log(`left out  ${name}: ${reason}`);
    },
    onFault: (mount, why) => console.error(`${mount}: ${why}`),
  },
);
if (opened.kind === "invalid") throw new Error(opened.message);

/** Returns the kind of result of each hostile answer to one task of the environment. */
async function attacked(environment: Environment, level: number): Promise<readonly string[]> {
  const { asked } = environment;
  if (asked === undefined) throw new Error(`${environment.id} is not mounted`);
  const tasks = { parameters: { level }, split: "train", seeds: [1n] } as const;
  const [result] = await asked.make(tasks, context);
  if (result?.kind !== "made") return [`no task (${result?.kind ?? "nothing"})`];
  const { instance } = result;
  const found = HOSTILE.map(async (answer) => {
    const facts = await environment.verify(instance, answer, context);
    if (facts.kind === "failed") return "no reward";
    const isRight = facts.kind === "feasible" || (facts.kind === "graded" && facts.solved);
    // An answer that broke the verifier is judged infeasible; a component above 0 beside the violation would be a
    // reward.
    const isRewarded =
      facts.kind === "graded" &&
      facts.violation !== undefined &&
      facts.components.some(({ value }) => (value ?? 0) > 0);
    return isRight || isRewarded ? "REWARDED" : "judged";
  });
  return Promise.all(found);
}

const counts = new Map<string, number>();
let served = 0;
for (const environment of opened.mounts.environments()) {
  let isServed = false;
  for (const { parameters } of environment.levels) {
    const found = await attacked(environment, Number(parameters["level"]));
    isServed ||= !found.some((each) => each.startsWith("no task"));
    if (found.includes("REWARDED")) console.log(`${environment.id}: a hostile answer has a reward`);
    for (const each of found) counts.set(each, (counts.get(each) ?? 0) + 1);
    // The first served environment stands for the others, which have the same verifier.
    if (isServed) break;
  }
  if (isServed) served++;
  else console.log(`${environment.id} gives no task`);
}
console.log(
  `${served} environments served, ${named.size} levels and environments named with a reason, after ${seconds()}`,
);
for (const [what, count] of counts) console.log(`${count} hostile answers: ${what}`);
await opened.mounts.close();
process.exitCode = counts.has("REWARDED") ? 1 : 0;
