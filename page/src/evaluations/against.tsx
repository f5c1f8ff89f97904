/** Compares two models task by task. Shows the tasks on which one is right and the other is wrong. */
import { EvaluationService, type Sample } from "../../../proto/gen/gradus/v1/evaluation_pb.js";
import { allPages } from "../../../clients/ts/src/reply.ts";
import { address, hrefOf, refine } from "../address.ts";
import { useAnswer } from "../answers.ts";
import { Answered, Heading, Select, Tag } from "../ui/parts.tsx";
import { Rows } from "../ui/rows.tsx";
import { counted, figure, signed } from "../words.ts";
import { taskSamplesHref } from "./evaluation.tsx";

interface Side {
  readonly samples: number;
  readonly rewarded: number;
  readonly reward: number;
  readonly solved: number;
}

interface Pair {
  readonly part: string;
  readonly instance: string;
  readonly sides: readonly [Side, Side];
}

const none: Side = { samples: 0, rewarded: 0, reward: 0, solved: 0 };

function withSample(side: Side, { outcome }: Sample): Side {
  const { samples, rewarded, reward, solved } = side;
  const result = outcome?.result;
  if (result?.case !== "score") return { ...side, samples: samples + 1 };
  return {
    samples: samples + 1,
    rewarded: rewarded + 1,
    reward: reward + result.value.reward,
    solved: solved + Number(result.value.solved),
  };
}

function pairsOf(both: readonly (readonly Sample[])[]): readonly Pair[] {
  const pairs = new Map<string, Pair>();
  both.forEach((samples, at) => {
    for (const sample of samples) {
      const instance = sample.task?.instanceHash ?? "";
      const key = `${sample.part} ${instance}`;
      const before = pairs.get(key) ?? { part: sample.part, instance, sides: [none, none] as const };
      const [left, right] = before.sides;
      const sides =
        at === 0 ? ([withSample(left, sample), right] as const) : ([left, withSample(right, sample)] as const);
      pairs.set(key, { ...before, sides });
    }
  });
  return [...pairs.values()];
}

const meanOf = ({ reward, rewarded }: Side) => (rewarded === 0 ? undefined : reward / rewarded);

/**
 * Returns by how much the second model's mean reward is above the first's. Undefined: one of them has no sample with a
 * reward.
 */
function knownGap({ sides: [left, right] }: Pair): number | undefined {
  const [one, two] = [meanOf(left), meanOf(right)];
  return one === undefined || two === undefined ? undefined : two - one;
}

const gap = (pair: Pair) => knownGap(pair) ?? 0;

const orders = {
  gap: "where they differ most",
  second: "where the second is better",
  first: "where the first is better",
};

function ordered(pairs: readonly Pair[], order: string): readonly Pair[] {
  const sign = order === "first" ? 1 : -1;
  return [...pairs].sort((a, b) => (order === "gap" ? Math.abs(gap(b)) - Math.abs(gap(a)) : sign * (gap(a) - gap(b))));
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
  const { sort = "gap" } = address.value.query;
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
        {(both) => <Table ids={ids} pairs={ordered(pairsOf(both), sort)} sort={sort} />}
      </Answered>
    </>
  );
}

function Table({
  ids,
  pairs,
  sort,
}: {
  readonly ids: readonly [string, string];
  readonly pairs: readonly Pair[];
  readonly sort: string;
}) {
  return (
    <>
      <div class="toolbar">
        <Select
          label="Order"
          value={sort}
          options={Object.entries(orders).map(([value, text]) => ({ value, text }))}
          onChoose={(value) => refine({ sort: value })}
        />
        <p class="note">{counted(pairs.length, "task")}</p>
      </div>
      <Rows
        label="Tasks"
        columns={["task", "part", ids[0], "solved by it", ids[1], "solved by that", "difference"]}
        count={pairs.length}
        keyOf={(at) => `${pairs[at]?.part} ${pairs[at]?.instance}`}
        row={(at) => {
          const pair = pairs[at] as Pair;
          const { part, instance, sides } = pair;
          const link = (side: 0 | 1) => (
            <a href={taskSamplesHref(ids[side], part, instance)}>{figure(meanOf(sides[side]))}</a>
          );
          const solved = ({ solved, samples, rewarded }: Side) => (
            <>
              <Tag tone={solved > 0 ? "good" : "plain"}>{`${solved} of ${rewarded}`}</Tag>
              {rewarded < samples && <small> {samples - rewarded} without a reward</small>}
            </>
          );
          const difference = knownGap(pair);
          const words = difference === undefined ? "–" : signed(difference);
          return [instance.slice(0, 8), part, link(0), solved(sides[0]), link(1), solved(sides[1]), words];
        }}
      />
    </>
  );
}
