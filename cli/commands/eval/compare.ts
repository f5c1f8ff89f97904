/** `gradus eval compare`: compares two evaluations task by task. */
import { type Command, Option } from "commander";
import {
  type Evaluation,
  type EvaluationHandle,
  meanReward,
  orderPairs,
  type PairOrder,
  type PairSample,
  type PairSide,
  type PairSolvers,
  pairSolvers,
  pairTasks,
  rewardGap,
  rewardOf,
  solversOf,
  type TaskPair,
} from "../../../clients/ts/src/public.ts";
import { addConnectionOptions, type ConnectionFlags, withClient } from "../../connection.ts";
import { number, print, printJson, table } from "../../print.ts";
import { CliProblem } from "../../problem.ts";
import { wholeNumber } from "../../task-options.ts";

interface Flags extends ConnectionFlags {
  readonly only?: PairSolvers;
  readonly order: PairOrder;
  readonly top: number;
  readonly json?: boolean;
}

/** Number of samples that one call reads. It is large, because the samples are read without their texts. */
const PAGE_SIZE = 1000;

export function addCompare(group: Command): void {
  const command = group
    .command("compare")
    .description("compare two evaluations task by task: which tasks only one model solves, and where rewards differ")
    .argument("<first>", "id of an evaluation")
    .argument("<second>", "id of another evaluation")
    .addOption(new Option("--only <who>", "only tasks that these models solve").choices(pairSolvers))
    .addOption(
      new Option("--order <by>", "list first the tasks with the greatest gap, or where one model is better")
        .choices(["gap", "first", "second"])
        .default("gap"),
    )
    .addOption(new Option("--top <n>", "number of tasks to list").argParser(wholeNumber(0, 2 ** 31 - 1)).default(20))
    .option("--json", "print JSON with all tasks");
  addConnectionOptions(command).action(async (first: string, second: string) => {
    const flags: Flags = command.optsWithGlobals();
    const { only, top } = flags;
    const pairs = await withClient(
      flags,
      async (client) => {
        const [one, two] = [client.evaluation(first), client.evaluation(second)];
        refuseOtherSuite(...(await Promise.all([one.get(), two.get()])));
        return pairTasks(...(await Promise.all([samplesOf(one), samplesOf(two)])));
      },
      "evaluations",
    );
    const chosen = orderPairs(
      pairs.filter((pair) => only === undefined || solversOf(pair) === only),
      flags.order,
    );
    if (flags.json) return printJson(asJson([first, second], pairs, chosen));
    print(`${countsTable([first, second], pairs)}\n\n${tasksTable([first, second], chosen.slice(0, top))}`);
    if (chosen.length > top) print(`${chosen.length - top} more: --top ${chosen.length} lists all`);
  });
}

function refuseOtherSuite(one: Evaluation, two: Evaluation): void {
  const [first, second] = [one, two].map(({ suite, suiteVersion }) => `${suite} version ${suiteVersion}`);
  if (first === second) return;
  const why = `${one.evaluationId} is of ${first}, and ${two.evaluationId} of ${second}`;
  throw new CliProblem("usage", `${why}: compare evaluations of one suite and version, which have the same tasks`);
}

async function samplesOf(evaluation: EvaluationHandle): Promise<readonly PairSample[]> {
  const samples: PairSample[] = [];
  for await (const { part, task, outcome } of evaluation.samples({ brief: true, pageSize: PAGE_SIZE })) {
    const reward = outcome && rewardOf(outcome);
    const solved = outcome?.kind === "scored" && outcome.solved;
    samples.push({ part, instance: task?.instanceHash ?? "", reward, solved });
  }
  return samples;
}

/**
 * Returns how many tasks only the first model solves, only the second, both, or neither. Tasks of which a model has no
 * sample with a reward count as unknown.
 */
function countsOf(pairs: readonly TaskPair[]): Readonly<Record<PairSolvers, number>> {
  const counts = { first: 0, second: 0, both: 0, neither: 0, unknown: 0 };
  for (const pair of pairs) counts[solversOf(pair)]++;
  return counts;
}

function countsTable([first, second]: readonly [string, string], pairs: readonly TaskPair[]): string {
  const parts = [...Map.groupBy(pairs, ({ part }) => part)];
  const all = parts.length > 1 ? [...parts, ["overall", pairs] as const] : parts;
  const rows = all.map(([part, own]) => {
    const { first, second, both, neither, unknown } = countsOf(own);
    return [part, ...[own.length, first, second, both, neither, unknown].map(String)];
  });
  return table(["part", "tasks", `only ${first}`, `only ${second}`, "both", "neither", "no reward"], rows);
}

function tasksTable([first, second]: readonly [string, string], pairs: readonly TaskPair[]): string {
  if (pairs.length === 0) return "no such tasks";
  const side = (of: PairSide): readonly string[] => {
    const mean = meanReward(of);
    return [mean === undefined ? "–" : number(mean), `${of.solved} of ${of.rewarded}`];
  };
  const rows = pairs.map((pair) => {
    const gap = rewardGap(pair);
    const [one, two] = pair.sides;
    return [pair.instance.slice(0, 12), pair.part, ...side(one), ...side(two), gap === undefined ? "–" : number(gap)];
  });
  return table(["task", "part", first, "solved", second, "solved", "difference"], rows);
}

function asJson([first, second]: readonly [string, string], all: readonly TaskPair[], chosen: readonly TaskPair[]) {
  const side = (of: PairSide) => ({
    samples: of.samples,
    rewarded: of.rewarded,
    solved: of.solved,
    mean: meanReward(of),
  });
  const tasks = chosen.map((pair) => {
    const [one, two] = pair.sides;
    const { part, instance } = pair;
    return { part, instance, solvers: solversOf(pair), first: side(one), second: side(two), gap: rewardGap(pair) };
  });
  return { first, second, counts: countsOf(all), tasks };
}
