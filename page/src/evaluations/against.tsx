/** Compares two models task by task. Shows the tasks on which one is right and the other is wrong. */
import { useMemo } from "preact/hooks";
import { EvaluationService, type Sample } from "../../../proto/gen/gradus/v1/evaluation_pb.js";
import { allPages } from "../../../clients/ts/src/reply.ts";
import { address, hrefOf, refine } from "../address.ts";
import { useAnswer } from "../answers.ts";
import { Answered, Facts, Heading, Select } from "../ui/parts.tsx";
import { Rows } from "../ui/rows.tsx";
import {
  meanReward,
  orderPairs,
  type PairOrder,
  type PairSample,
  type PairSolvers,
  pairSolvers,
  pairTasks,
  rewardGap,
  solversOf,
  type TaskPair,
} from "../../../clients/ts/src/task-pairs.ts";
import { counted, figure, signed } from "../words.ts";
import { Both, Solved } from "./both.tsx";
import { taskSamplesHref } from "./task-samples.ts";

const orders: Readonly<Record<PairOrder, string>> = {
  gap: "where they differ most",
  second: "where the second is better",
  first: "where the first is better",
};

const solvers: Readonly<Record<PairSolvers, string>> = {
  first: "solved by the first alone",
  second: "solved by the second alone",
  both: "solved by both",
  neither: "solved by neither",
  unknown: "without a reward of one",
};

function pairSample({ part, task, outcome }: Sample): PairSample {
  const result = outcome?.result;
  const score = result?.case === "score" ? result.value : undefined;
  return { part, instance: task?.instanceHash ?? "", reward: score?.reward, solved: score?.solved ?? false };
}

export function Against({ ids }: { readonly ids: readonly [string, string] }) {
  const answer = useAnswer(
    (gradus, options) =>
      Promise.all(
        ids.map((evaluationId) =>
          allPages(
            (pageToken) =>
              gradus.unary(
                EvaluationService.method.listSamples,
                { evaluationId, brief: true, pageSize: 1000, pageToken },
                options,
              ),
            (page) => page.samples,
          ),
        ),
      ),
    [ids.join()],
  );
  return (
    <>
      <p class="crumbs">
        <a href={hrefOf(["evaluations"], { show: ids.join(",") })}>Evaluations</a> /
      </p>
      <Heading
        title={`${ids[0]} and ${ids[1]}`}
        note="Task by task: the mean reward of each, and how many of its samples with a reward are solved."
      />
      <Answered answer={answer}>
        {([first = [], second = []]) => <Pairs ids={ids} first={first} second={second} />}
      </Answered>
    </>
  );
}

function isOrder(text: string): text is PairOrder {
  return text in orders;
}

interface PairsProps {
  readonly ids: readonly [string, string];
  readonly first: readonly Sample[];
  readonly second: readonly Sample[];
}

/** Shows all tasks, or the one that the address names. */
function Pairs({ ids, first, second }: PairsProps) {
  const { sort = "gap", show = "all", of: part, instance } = address.value.query;
  const all = useMemo(
    () => orderPairs(pairTasks(first.map(pairSample), second.map(pairSample)), isOrder(sort) ? sort : "gap"),
    [first, second, sort],
  );
  const pairs =
    pairSolvers.find((each) => each === show) === undefined ? all : all.filter((pair) => solversOf(pair) === show);
  if (instance === undefined) return <Table ids={ids} all={all} pairs={pairs} />;
  const pair = all.find((each) => each.part === part && each.instance === instance);
  if (pair === undefined) return <p class="empty">Neither has a sample of task {instance}.</p>;
  return <Both ids={ids} pair={pair} pairs={pairs} />;
}

interface TableProps {
  readonly ids: readonly [string, string];
  readonly all: readonly TaskPair[];
  /** Tasks to show, in order. */
  readonly pairs: readonly TaskPair[];
}

function Table({ ids, all, pairs }: TableProps) {
  const { path, query } = address.value;
  const bySolvers = Map.groupBy(all, solversOf);
  const shown = pairSolvers.filter((each) => each !== "unknown" || bySolvers.has(each));
  const counts = shown.map((each) => [solvers[each], bySolvers.get(each)?.length ?? 0] as const);
  return (
    <>
      <div class="progress">
        <Facts facts={counts} />
      </div>
      <div class="toolbar">
        <Select
          label="Order"
          value={query["sort"] ?? "gap"}
          options={Object.entries(orders).map(([value, text]) => ({ value, text }))}
          onChoose={(value) => refine({ sort: value })}
        />
        <Select
          label="Show"
          value={query["show"] ?? "all"}
          options={[
            { value: "all", text: `all ${all.length}` },
            ...shown.map((each, at) => ({ value: each, text: `${counts[at]?.[1]} ${solvers[each]}` })),
          ]}
          onChoose={(value) => refine({ show: value })}
        />
        <p class="note">{counted(pairs.length, "task")}</p>
      </div>
      <Rows
        label="Tasks"
        columns={["task", "part", ids[0], "solved by it", ids[1], "solved by that", "difference"]}
        count={pairs.length}
        keyOf={(at) => `${pairs[at]?.part} ${pairs[at]?.instance}`}
        row={(at) => {
          const pair = pairs[at] as TaskPair;
          const { part, instance, sides } = pair;
          const link = (side: 0 | 1) => (
            <a href={taskSamplesHref({ id: ids[side], part, instance })}>{figure(meanReward(sides[side]))}</a>
          );
          const difference = rewardGap(pair);
          const words = difference === undefined ? "–" : signed(difference);
          const task = <a href={hrefOf(path, { ...query, of: part, instance })}>{instance.slice(0, 8)}</a>;
          return [task, part, link(0), <Solved side={sides[0]} />, link(1), <Solved side={sides[1]} />, words];
        }}
      />
    </>
  );
}
