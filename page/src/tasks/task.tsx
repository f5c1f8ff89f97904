/** Shows one task: its prompt, a form to try answers, and the code that requests it. */
import type { Environment, Task } from "../../../clients/ts/src/public.ts";
import { AnswerFormat, Source } from "../../../clients/ts/src/public.ts";
import { answerFormatNames } from "../../../clients/ts/src/choices.ts";
import { address, hrefOf, refine } from "../address.ts";
import { useAnswer } from "../answers.ts";
import { mayNot, roleAtLeast } from "../caller.ts";
import { Answered, Facts, Failure, Heading, NotForRole, Panel, Segments, Select, Waiting } from "../ui/parts.tsx";
import { visible } from "../outcomes/visible.ts";
import { formatWords } from "../words.ts";
import { AsACall } from "./as-a-call.tsx";
import { Attempt } from "./attempt.tsx";
import { type ChosenTask, chosenTask, keyOf } from "./choice.ts";
import { goalWords } from "./gallery.tsx";
import { TaskPicture } from "./picture.tsx";
import { Play } from "./play.tsx";
import { Stepper } from "./stepper.tsx";

const formatNames: Readonly<Record<number, string>> = {
  [AnswerFormat.THINK_ANSWER]: "think_answer",
  [AnswerFormat.ANSWER_LINE]: "answer_line",
  [AnswerFormat.ANSWER_TAG]: "answer_tag",
  [AnswerFormat.BOXED]: "boxed",
};

export function TaskPage({ environment: id }: { readonly environment: string }) {
  const environment = useAnswer((gradus, options) => gradus.getEnvironment(id, 0, options), [id]);
  return (
    <>
      <p class="crumbs">
        <a href={hrefOf(["tasks"])}>Tasks</a> /
      </p>
      <Answered answer={environment}>
        {(found) =>
          roleAtLeast("trainer") ? (
            <OfEnvironment environment={found} />
          ) : mayNot("trainer") ? (
            <Described environment={found} />
          ) : (
            <Waiting />
          )
        }
      </Answered>
    </>
  );
}

/** Describes an environment, without a task, to a caller with the role viewer: making a task needs the role trainer. */
function Described({ environment }: { readonly environment: Environment }) {
  const { id, version, description, goal, levels, answerFormats } = environment;
  const formats = answerFormats.map((format) => formatNames[format] ?? "").map((name) => formatWords[name] ?? name);
  return (
    <>
      <Heading title={id} note={`${description} (${goalWords[goal]})`} />
      <NotForRole role="trainer" what="Its tasks are" />
      <Panel title="The environment">
        <Facts
          facts={[
            ["version", version],
            ["answer formats", formats.join(", ")],
          ]}
        />
      </Panel>
      <Panel title="Levels">
        <ul class="entries">
          {levels.map(({ name, description: words }) => (
            <li key={name}>
              <h3>{name}</h3>
              <p class="note">{words}</p>
            </li>
          ))}
        </ul>
      </Panel>
    </>
  );
}

function OfEnvironment({ environment }: { readonly environment: Environment }) {
  const { id, description, goal } = environment;
  const { query } = address.value;
  const chosen = chosenTask(id, query);
  const task = useAnswer((gradus, options) => gradus.reset(chosen, options), [keyOf(chosen)]);
  return (
    <>
      <Heading title={id} note={`${description} (${goalWords[goal]})`} />
      <Chooser environment={environment} chosen={chosen} />
      {task.error !== undefined && <Failure error={task.error} again={task.again} />}
      {task.error === undefined && task.value === undefined && <Waiting />}
      {task.error === undefined && task.value !== undefined && (
        <div class="halves">
          <div class="stack">
            <Prompt task={task.value} environment={environment} />
            <AsACall chosen={chosen} environment={environment} />
          </div>
          <div class="stack">
            {task.value.callsMax > 0 ? (
              <Play key={task.value.taskId} task={task.value} />
            ) : (
              <Attempt key={task.value.taskId} task={task.value} />
            )}
            <Panel title="The instance">
              <TaskPicture task={chosen} />
              <TaskFacts task={task.value} />
            </Panel>
          </div>
        </div>
      )}
    </>
  );
}

function Chooser({ environment, chosen }: { readonly environment: Environment; readonly chosen: ChosenTask }) {
  const { levels, pools, sources } = environment;
  const level = chosen.level ?? levels[0]?.name ?? "";
  const hasBoth = sources.includes(Source.REAL) && sources.includes(Source.SYNTHETIC);
  return (
    <div class="toolbar">
      <Select
        label="Level"
        value={level}
        options={levels.map(({ name, evaluationOnly }) => ({
          value: name,
          text: evaluationOnly ? `${name} (evaluation)` : name,
        }))}
        onChoose={(value) => refine({ level: value, ...(onlyEvaluated(environment, value) && { split: "eval" }) })}
      />
      <Select
        label="Split"
        value={chosen.split ?? "train"}
        options={["train", "eval", "bench"].map((name) => ({
          value: name,
          text: name,
          disabled: name === "train" && onlyEvaluated(environment, level),
        }))}
        onChoose={(value) => refine({ split: value })}
      />
      {hasBoth && (
        <Select
          label="From"
          value={chosen.source ?? "synthetic"}
          options={[
            { value: "synthetic", text: "the generator" },
            { value: "real", text: "rows" },
          ]}
          onChoose={(value) => refine({ source: value, pool: undefined })}
        />
      )}
      {pools.length > 1 && chosen.source === "real" && (
        <Select
          label="Pool"
          value={chosen.pool ?? ""}
          options={pools.map(({ name }) => ({ value: name, text: name }))}
          onChoose={(value) => refine({ pool: value })}
        />
      )}
      {environment.callsMax > 0 && <Turns environment={environment} chosen={chosen} />}
      <Stepper seed={chosen.seed} />
    </div>
  );
}

/**
 * Maximum number of calls that the page sets when the reader chooses tools for a task that takes one completion by
 * default.
 */
const CALLS_WITH_TOOLS = "8";

/** Chooses the maximum number of calls, and whether the model has tools. */
function Turns({ environment, chosen }: { readonly environment: Environment; readonly chosen: ChosenTask }) {
  const { calls, callsMax, tools } = environment;
  const names = tools.map(({ name }) => name).join(",");
  const numbers = [...new Set([calls, chosen.calls ?? 1, 1, 2, 4, 8, 16, 32, callsMax])].filter(
    (each) => each > 0 && each <= callsMax,
  );
  // A task of one completion makes no call of a tool.
  const needsCalls = calls === 0 && (chosen.calls ?? 1) < 2;
  return (
    <>
      <Select
        label="Calls"
        value={String(chosen.calls ?? (calls || 1))}
        options={numbers.toSorted((a, b) => a - b).map((each) => ({ value: String(each), text: String(each) }))}
        onChoose={(value) => refine({ calls: value, ...(calls === 0 && value === "1" && { tools: undefined }) })}
      />
      {names !== "" && (
        <Select
          label="Tools"
          value={chosen.tools === undefined ? "" : names}
          options={[
            { value: "", text: "none" },
            { value: names, text: names.replaceAll(",", ", ") },
          ]}
          onChoose={(value) => refine({ tools: value, ...(needsCalls && value !== "" && { calls: CALLS_WITH_TOOLS }) })}
        />
      )}
    </>
  );
}

function onlyEvaluated({ levels }: Environment, level: string): boolean {
  return levels.find(({ name }) => name === level)?.evaluationOnly ?? false;
}

function Prompt({ task, environment }: { readonly task: Task; readonly environment: Environment }) {
  const offered = answerFormatNames.filter((name) =>
    environment.answerFormats.some((format) => formatNames[format] === name),
  );
  return (
    <Panel title="The prompt, as the model sees it">
      {offered.length > 1 && (
        <Segments
          label="Answer format"
          value={formatNames[task.answerFormat] ?? ""}
          options={offered.map((name) => ({ value: name, text: formatWords[name] ?? name }))}
          onChoose={(value) => refine({ format: value })}
        />
      )}
      <ol class="messages">
        {task.prompt.map(({ role, content }, at) => (
          <li key={at}>
            <h3>{role}</h3>
            <pre tabIndex={0}>{visible(content)}</pre>
          </li>
        ))}
      </ol>
    </Panel>
  );
}

function TaskFacts({ task }: { readonly task: Task }) {
  const metadata = Object.entries(task.hints?.metadata ?? {});
  return (
    <Facts
      facts={[
        ...metadata.map(([name, value]) => [name.replaceAll("_", " "), visible(value)] as const),
        ["version", task.version],
        ["instance", <code>{task.instanceHash}</code>],
        ...(task.hints?.stop.length ? [["stops at", <code>{task.hints.stop.join(" ")}</code>] as const] : []),
      ]}
    />
  );
}
