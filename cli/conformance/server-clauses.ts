/**
 * Clauses that every server of the contract (proto/gradus/v1) must keep: for the server, for each environment, and for
 * runs.
 */
import {
  type Environment,
  GradusError,
  type GradusClient,
  type GradusCode,
  type Outcome,
  type Task,
} from "../../clients/ts/src/public.ts";
import { type Clause, inPart, type Finding, fail, pass, skip, unless } from "./clause.ts";

/** Environment and level, on a server, on which clauses are tried. */
export interface EnvironmentSubject {
  readonly client: GradusClient;
  readonly environment: Environment;
  readonly level: string;
}

export interface RunSubject {
  readonly client: GradusClient;
  readonly environment: string;
  readonly level: string;
  /** Id of the run that the clauses create and delete. */
  readonly runId: string;
}

const SEEDS = [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n] as const;
const NOTHING = "I do not know.";
const HOSTILE = [
  "",
  "\u0000",
  "<answer>",
  "<answer></answer>".repeat(2000),
  "9**9**9",
  "()[]{}".repeat(20_000),
] as const;

/** Returns the status code of a failed call. Undefined if the call succeeded. */
async function codeOf(call: Promise<unknown>): Promise<GradusCode | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    if (error instanceof GradusError) return error.code;
    throw error;
  }
}

async function refusedWith(call: Promise<unknown>, wanted: GradusCode): Promise<Finding> {
  const code = await codeOf(call);
  return unless(code === wanted ? undefined : `it answers ${code ?? "OK"} instead of ${wanted}`);
}

const textOf = (task: Task): string => JSON.stringify(task.prompt.map(({ role, content }) => [role, content]));

/** Returns the tasks of some seeds. Leaves out seeds for which the server can make no task. */
async function tasksOf(
  { client, environment: { id }, level }: EnvironmentSubject,
  seeds: readonly bigint[],
  split: "train" | "eval" = "train",
): Promise<readonly Task[]> {
  const results = await client.batchReset({ environment: id, level, seeds: [...seeds], split });
  return results.flatMap(({ result }) => (result.case === "task" ? [result.value] : []));
}

async function firstTask(subject: EnvironmentSubject): Promise<Task> {
  const [task] = await tasksOf(subject, SEEDS);
  if (task === undefined) throw new Error("the server made no task for any of eight seeds");
  return task;
}

/**
 * Returns what is wrong with the outcome of a wrong answer, which must have a reward and must not count as solved.
 * Undefined if nothing is wrong.
 */
function wrongly(outcome: Outcome): string | undefined {
  if (outcome.kind === "unscored") return `it has no reward: ${outcome.reason}: ${outcome.detail}`;
  return outcome.solved ? "it counts as solved" : undefined;
}

export const ofServer: readonly Clause<GradusClient>[] = inPart<GradusClient>("The server", [
  {
    says: "The server says which contract it speaks, and which environments it has, each with an id and a version.",
    check: async (client) => {
      const { contract } = await client.getServerInfo();
      if (contract === "") return fail("it does not say which contract it speaks");
      const nameless = (await client.listEnvironments()).find(({ id, version }) => id === "" || version < 1);
      return unless(nameless && `an environment has the id '${nameless.id}' and the version ${nameless.version}`);
    },
  },
  {
    says: "A request for an environment that does not exist gets NOT_FOUND.",
    check: (client) => refusedWith(client.reset({ environment: "gradus/no-such-environment" }), "NOT_FOUND"),
  },
  {
    says: "A task id that the server did not make is refused, and never scored.",
    check: async (client) => {
      const outcome = await client
        .step({ taskId: "forged", groupId: "forged" }, NOTHING)
        .catch((error: unknown) => error);
      if (outcome instanceof GradusError) return unless(outcome.code === "INTERNAL" ? outcome.message : undefined);
      return unless((outcome as Outcome).kind === "scored" ? "it has a reward" : undefined);
    },
  },
  {
    says: "One bad item never fails its neighbours: a group of a forged task stands beside one that is scored.",
    check: async (client) => {
      const environment = (await client.listEnvironments()).find(({ levels }) => levels.length > 0);
      if (environment === undefined) return skip("no environment of the server has a level");
      const task = await client.reset({ environment: environment.id }).catch(() => undefined);
      if (task === undefined) return skip(`${environment.id} makes no task by itself`);
      const completions = [{ sampleIndex: 0, text: NOTHING }];
      const forged = { taskId: `${task.taskId}x`, groupId: task.groupId };
      const outcomes = await client.batchStep([
        { task: forged, completions },
        { task, completions },
      ]);
      const [bad, good] = outcomes.map((group) => group.outcomes[0]);
      if (bad?.kind === "scored") return fail("the group of the forged task is scored");
      return unless(good?.kind === "scored" ? undefined : "the group of the valid task is not scored");
    },
  },
]);

export const ofEnvironment: readonly Clause<EnvironmentSubject>[] = [
  ...inPart<EnvironmentSubject>("Tasks", [
    {
      says: "The same specification and seed are the same task, whoever asks and in whatever order.",
      check: async (subject) => {
        const once = (await tasksOf(subject, SEEDS)).map(textOf);
        const again = (await tasksOf(subject, SEEDS.toReversed())).map(textOf).toReversed();
        return unless(
          JSON.stringify(once) === JSON.stringify(again) ? undefined : "the second call gave different prompts",
        );
      },
    },
    {
      says: "Seeds that differ give tasks that differ, beyond 2^53 too.",
      check: async (subject) => {
        const tasks = await tasksOf(subject, [...SEEDS, 2n ** 53n, 2n ** 53n + 1n]);
        if (tasks.length < 2) return skip("fewer than two of ten seeds can be made");
        return unless(new Set(tasks.map(textOf)).size > 1 ? undefined : "ten seeds all give the same prompt");
      },
    },
    {
      says: "The splits share no instance: what is trained on is not what is evaluated.",
      check: async (subject) => {
        const { small } = subject.environment.levels.find(({ name }) => name === subject.level) ?? {};
        if (small === true) return skip("the level is small, and says that its instances lie in every split");
        const train = new Set((await tasksOf(subject, SEEDS)).map(({ instanceHash }) => instanceHash));
        const others = await tasksOf(subject, SEEDS, "eval").catch(() => []);
        if (others.length === 0) return skip("no task of the split eval can be made");
        const shared = others.find(({ instanceHash }) => instanceHash !== "" && train.has(instanceHash));
        return unless(shared && `instance ${shared.instanceHash} is in train and in eval`);
      },
    },
  ]),
  ...inPart<EnvironmentSubject>("Scores", [
    {
      says: "A completion without an answer has a reward, and does not count as solved.",
      check: async (subject) => unless(wrongly(await subject.client.step(await firstTask(subject), NOTHING))),
    },
    {
      says: "The same completion has the same reward whenever it is scored.",
      check: async (subject) => {
        const task = await firstTask(subject);
        const rewards = new Set<unknown>();
        for (let i = 0; i < 3; i++) {
          const outcome = await subject.client.step(task, NOTHING);
          rewards.add(outcome.kind === "scored" ? outcome.reward : outcome.reason);
        }
        return unless(rewards.size === 1 ? undefined : `it has the different rewards ${[...rewards].join(", ")}`);
      },
    },
    {
      says: "Empty, hostile and long completions have outcomes, none of which is solved, and no error.",
      check: async (subject) => {
        const task = await firstTask(subject);
        for (const completion of HOSTILE) {
          const against = wrongly(await subject.client.step(task, completion));
          if (against !== undefined) return fail(`${JSON.stringify(completion.slice(0, 40))}: ${against}`);
        }
        return pass;
      },
    },
  ]),
];

const config = ({ environment, level }: RunSubject, numGenerations: number) => ({
  arms: [{ id: "arm", environment, level }],
  policy: { kind: "mixture" } as const,
  numGenerations,
  promptsPerUpdate: 2,
  seed: 1n,
});

/** Clauses on runs. Each continues from the state of the run that the clause before it left. */
export const ofRuns: readonly Clause<RunSubject>[] = inPart<RunSubject>("Runs", [
  {
    says: "CreateRun gives the same run to all who ask with the same configuration, and ALREADY_EXISTS to others.",
    check: async (subject) => {
      const run = subject.client.run(subject.runId);
      const first = await run.create(config(subject, 2));
      const again = await run.create(config(subject, 2));
      if (first.state?.incarnation !== again.state?.incarnation) return fail("the second call returned another run");
      return refusedWith(run.create(config(subject, 3)), "ALREADY_EXISTS");
    },
  },
  {
    says: "NextBatch gives the same tasks at the same cursor, however often it is asked.",
    check: async ({ client, runId }) => {
      const ask = async () => (await client.run(runId).nextBatch({ cursor: 0n })).tasks.map(({ groupId }) => groupId);
      const [once, again] = [await ask(), await ask()];
      if (once.length === 0) return fail("it gives no tasks");
      return unless(once.join() === again.join() ? undefined : "the second call gave different tasks");
    },
  },
  {
    says: "A sample counts once: sent again it is a DUPLICATE, and with another completion a conflict.",
    check: async ({ client, runId }) => {
      const [task] = (await client.run(runId).nextBatch({ cursor: 0n })).tasks;
      if (task === undefined) return fail("it gives no tasks");
      const told: (string | undefined)[] = [];
      for (const text of [NOTHING, NOTHING, "Something else."])
        told.push((await client.step(task, text)).feedback?.status);
      const wanted = ["recorded", "duplicate", "conflicting_completion"];
      return unless(
        told.join() === wanted.join() ? undefined : `it says ${told.join(", ")} instead of ${wanted.join(", ")}`,
      );
    },
  },
  {
    says: "A request for a deleted run gets NOT_FOUND.",
    check: async ({ client, runId }) => {
      await client.run(runId).delete();
      return refusedWith(client.run(runId).get(), "NOT_FOUND");
    },
  },
]);
