/**
 * Which files of ours a Step and a NextBatch really pass, by the functions that run: what docs/architecture.md says of
 * them is held to this. Each walk has a spine there, a numbered list of the files that take the call on, of which there
 * may be so many; the text under it names all others.
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
import { BanditSignal, CurriculumService } from "../server/gen/gradus/v1/curriculum_pb.js";
import { EnvironmentService } from "../server/gen/gradus/v1/environment_pb.js";
import { openServer } from "../test/support/in-process.ts";

const root = join(import.meta.dirname, "..");

/** Files that the spine of each walk may have. */
const spineMax = { Step: 12, "Step's feedback": 12, NextBatch: 20, "task that is made ahead": 12 } as const;

type Walk = keyof typeof spineMax;

/** What a document tells of a walk. */
interface Told {
  /** Its spine: the files that each point of the numbered list names. */
  readonly points: readonly (readonly string[])[];
  /** All files that are named. */
  readonly files: readonly string[];
  /** How many files it says that there are; NaN: it does not say. */
  readonly count: number;
}

function namedIn(text: string): readonly string[] {
  return [...text.matchAll(/`((?:envs|server)\/[\w./-]+\.ts)`/g)].map(([, file]) => file ?? "");
}

export function toldOf(document: string, walk: string): Told {
  const [, section = ""] = new RegExp(`^## The walk of a ${walk}$([^]*?)(?=^## |$(?![^]))`, "m").exec(document) ?? [];
  const points = [...section.matchAll(/^\d+\. .*$/gm)].map(([point]) => namedIn(point));
  return { points, files: namedIn(section), count: Number(/\b(\d+) (?:more )?files run\b/.exec(section)?.[1] ?? NaN) };
}

/** What is wrong with what is told of a walk that passes these files, a line each. */
export function problemsOf({ points, files, count }: Told, passed: readonly string[], max: number): readonly string[] {
  const spine = points.flat();
  return [
    ...passed.filter((file) => !files.includes(file)).map((file) => `${file} is passed and not named`),
    ...files.filter((file) => !passed.includes(file)).map((file) => `${file} is named and not passed`),
    ...points.flatMap((named, i) =>
      named.length === 1 ? [] : [`point ${i + 1} names ${named.length} files, not one`],
    ),
    ...spine.filter((file, i) => spine.indexOf(file) < i).map((file) => `${file} is twice in the spine`),
    ...(spine.length === 0 ? ["there is no spine"] : []),
    ...(spine.length > max ? [`the spine has ${spine.length} files, and may have ${max}`] : []),
    ...(count === passed.length ? [] : [`${passed.length} files run, and it says ${count}`]),
  ];
}

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

/** The files that each walk passes; of feedback and of what is made ahead, those beyond the walk that they follow. */
async function walked(): Promise<Readonly<Record<Walk, readonly string[]>>> {
  await using server = await openServer({ store: "memory", workers: "1", logLevel: "silent" });
  const transport = createGrpcTransport({ baseUrl: `http://${server.address}` });
  const curriculum = createClient(CurriculumService, transport);
  const environments = createClient(EnvironmentService, transport);
  // One completion of each prompt, so that a step closes its group: the signal is the one that takes one.
  const policy = { kind: { case: "bandit", value: { signal: BanditSignal.LEARNING_PROGRESS } } } as const;
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
  const made = (await filesOf(session, () => next(2))).filter((file) => !drawn.includes(file));
  session.disconnect();
  return { Step: stepped, "Step's feedback": fed, NextBatch: drawn, "task that is made ahead": made };
}

if (import.meta.main) {
  const document = readFileSync(join(root, "docs/architecture.md"), "utf8");
  for (const [walk, files] of Object.entries(await walked())) {
    const told = toldOf(document, walk);
    const max = spineMax[walk as Walk];
    console.log(`${walk}: ${told.points.length} files in its spine (at most ${max}), ${files.length} in all`);
    for (const file of files) console.log(`  ${file}`);
    const problems = problemsOf(told, files, max);
    for (const problem of problems) console.error(`docs/architecture.md, ${walk}: ${problem}`);
    if (problems.length > 0) process.exitCode = 1;
  }
}
