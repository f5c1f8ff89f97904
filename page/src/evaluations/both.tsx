/** Shows one task of two evaluations: its prompt with a right answer, and the samples of both in two columns. */
import type { Sample } from "../../../proto/gen/gradus/v1/evaluation_pb.js";
import { meanReward, type PairSide, type TaskPair } from "../../../clients/ts/src/task-pairs.ts";
import { address, hrefOf } from "../address.ts";
import { useAnswer } from "../answers.ts";
import { Asked, Side } from "../samples/group.tsx";
import { Steps } from "../samples/steps.tsx";
import { RightAnswer } from "../tasks/best.tsx";
import { Answered, Facts, Tag } from "../ui/parts.tsx";
import { figure } from "../words.ts";
import { type EvaluatedTask, groupSample, loadTaskSamples, taskSamplesHref } from "./task-samples.ts";

interface BothProps {
  readonly ids: readonly [string, string];
  readonly pair: TaskPair;
  /** Tasks to step through, in the order of the table. */
  readonly pairs: readonly TaskPair[];
}

export function Both({ ids, pair, pairs }: BothProps) {
  const { part, instance, sides } = pair;
  const { path, query } = address.value;
  const { of: _of, instance: _instance, ...rest } = query;
  const answer = useAnswer(
    (client, options) => {
      const load = async (side: 0 | 1): Promise<ColumnProps> => {
        const evaluated = { id: ids[side], part, instance };
        const samples = await loadTaskSamples(client, options, evaluated, sides[side].samples);
        return { evaluated, figures: sides[side], samples };
      };
      return Promise.all([load(0), load(1)]);
    },
    [ids.join(), part, instance],
  );
  // Show the previous task's name as long as its samples are shown, that is, until the samples of this task are loaded.
  const named = (answer.waiting && answer.value?.[0].evaluated.instance) || instance;
  return (
    <>
      <p class="crumbs">
        <a href={hrefOf(path, rest)}>All tasks</a> / task {named}
      </p>
      <Steps what="Tasks" beside={pairs.map((each) => ({ of: each.part, instance: each.instance }))} />
      <Answered answer={answer}>
        {(columns) => (
          <>
            <Prompts columns={columns} />
            <div class="halves">
              {columns.map((column) => (
                <Column key={column.evaluated.id} {...column} />
              ))}
            </div>
          </>
        )}
      </Answered>
    </>
  );
}

interface ColumnProps {
  readonly evaluated: EvaluatedTask;
  readonly figures: PairSide;
  readonly samples: readonly Sample[];
}

/**
 * Shows the prompt once, or the prompts of both evaluations if they differ, e.g. because of different answer formats.
 */
function Prompts({ columns }: { readonly columns: readonly ColumnProps[] }) {
  const asked = columns.flatMap(({ evaluated, samples: [first] }) =>
    first?.task === undefined ? [] : [{ id: evaluated.id, task: first.task }],
  );
  const [one] = asked;
  if (one === undefined) return null;
  const prompts = asked.map(({ task }) => JSON.stringify(task.prompt.map(({ role, content }) => [role, content])));
  const differ = new Set(prompts).size > 1;
  return (
    <div class="halves asked">
      {differ ? asked.map(({ id, task }) => <Asked key={id} task={task} whom={id} />) : <Asked task={one.task} />}
      <RightAnswer task={one.task} />
    </div>
  );
}

function Column({ evaluated, figures, samples }: ColumnProps) {
  const { id, instance } = evaluated;
  return (
    <section class="stack" aria-label={id}>
      <h2>
        <a href={taskSamplesHref(evaluated)}>{id}</a>
      </h2>
      <Facts
        facts={[
          ["mean reward", figure(meanReward(figures))],
          ["solved", <Solved side={figures} />],
        ]}
      />
      {samples.length === 0 && <p class="empty">It has no sample of this task.</p>}
      <ol class="stack">
        {samples.map((sample) => (
          <Side
            key={`${instance} ${sample.sampleIndex}`}
            sample={groupSample(sample)}
            task={sample.task}
            own={{ of: id, href: taskSamplesHref(evaluated, sample.sampleIndex) }}
          />
        ))}
      </ol>
    </section>
  );
}

/** Shows how many samples with a reward are solved, and how many have no reward. */
export function Solved({ side: { solved, samples, rewarded } }: { readonly side: PairSide }) {
  return (
    <>
      <Tag tone={solved > 0 ? "good" : "plain"}>{`${solved} of ${rewarded}`}</Tag>
      {rewarded < samples && <small> {samples - rewarded} without a reward</small>}
    </>
  );
}
