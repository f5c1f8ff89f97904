/**
 * Which files of ours a Step and a NextBatch really pass, by the functions that run: what docs/architecture.md says of
 * them is held to this.
 *
 *   node scripts/walks.ts
 */
import { Session } from "node:inspector/promises";
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { CurriculumService } from "../server/gen/gradus/v1/curriculum_pb.js";
import { EnvironmentService } from "../server/gen/gradus/v1/environment_pb.js";
import { openServer } from "../test/support/in-process.ts";

const root = join(import.meta.dirname, "..");

/** Files of envs and server of which a function ran; what is generated does not count. */
async function filesOf(session: Session, work: () => Promise<unknown>): Promise<readonly string[]> {
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  // What ran until now is counted and put away.
  await session.post("Profiler.takePreciseCoverage");
  await work();
  await settled();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  await session.post("Profiler.stopPreciseCoverage");
  const ran = result.filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0));
  const files = ran.flatMap(({ url }) => (url.startsWith("file:") ? [relative(root, fileURLToPath(url))] : []));
  return files.filter((file) => /^(envs|server)\/(?!gen\/)/.test(file)).sort();
}

/** What a call leaves to be done behind it, such as tasks that are made ahead, is done. */
const settled = (): Promise<void> => sleep(1000);

const levels = ["T0", "T1"].map((value) => {
  return { id: value, spec: { environment: "countdown", difficulty: { case: "level", value } as const } };
});

await using server = await openServer({ store: "memory", workers: "1", logLevel: "silent" });
const transport = createGrpcTransport({ baseUrl: `http://${server.address}` });
const curriculum = createClient(CurriculumService, transport);
const environments = createClient(EnvironmentService, transport);
const policy = { kind: { case: "bandit", value: {} } } as const;
const config = { arms: levels, policy, numGenerations: 1, promptsPerUpdate: 2 };
await curriculum.createRun({ runId: "walk", config });
// Its second update batch of two tasks is its last, which leaves nothing to be made ahead.
await curriculum.createRun({ runId: "short", config: { ...config, length: 4n } });

const next = (cursor: number, runId = "walk") => curriculum.nextBatch({ runId, cursor: BigInt(cursor) });
const step = async ({ taskId, groupId }: { readonly taskId: string; readonly groupId: string }) => {
  await environments.step({ taskId, groupId, completion: "<think></think><answer>1 + 2</answer>" });
};

// Each is done before it is watched, so that what is made once is no part of the walk.
const [first, second] = (await next(0)).tasks;
const spec = { environment: "countdown" };
const tasks = await environments.batchReset({ spec, seeds: [1n, 2n] });
const [third, fourth] = tasks.results.map(({ result }) => (result.case === "task" ? result.value : undefined));
if (!first || !second || !third || !fourth) throw new Error("there are too few tasks");
await step(third);
await step(first);
await next(0, "short");
await settled();
const session = new Session();
session.connect();
await session.post("Profiler.enable");
const stepped = await filesOf(session, () => step(fourth));
const fed = (await filesOf(session, () => step(second))).filter((file) => !stepped.includes(file));
const drawn = await filesOf(session, () => next(2, "short"));
const walks = {
  Step: stepped,
  "Step's feedback": fed,
  NextBatch: drawn,
  "task that is made ahead": (await filesOf(session, () => next(2))).filter((file) => !drawn.includes(file)),
};
session.disconnect();

const text = readFileSync(join(root, "docs/architecture.md"), "utf8");
let wrong = 0;
for (const [name, files] of Object.entries(walks)) {
  const section = new RegExp(`^## The walk of a ${name}$([^]*?)(?=^## |$(?![^]))`, "m").exec(text)?.[1] ?? "";
  const told = [...section.matchAll(/`((?:envs|server)\/[\w./-]+\.ts)`/g)].map(([, file]) => file ?? "");
  const missing = files.filter((file) => !told.includes(file));
  const extra = told.filter((file) => !files.includes(file));
  console.log(`${name}: ${files.length} files`);
  for (const file of files) console.log(`  ${file}`);
  for (const file of missing) console.error(`docs/architecture.md, ${name}: ${file} is passed and not named`);
  for (const file of extra) console.error(`docs/architecture.md, ${name}: ${file} is named and not passed`);
  wrong += missing.length + extra.length;
}
process.exitCode = wrong === 0 ? 0 : 1;
