/** Shows the completions of one task side by side: the prompt with a right answer beside it, and each outcome. */
import { useEffect, useRef } from "preact/hooks";
import type { ChatMessage, Task, ToolCall } from "../../../clients/ts/src/public.ts";
import type { Outcome } from "../../../clients/ts/src/outcomes.ts";
import { address, hrefOf, refine } from "../address.ts";
import { messagesOf } from "../outcomes/conversation.tsx";
import { OutcomeShown } from "../outcomes/outcome.tsx";
import { visible } from "../outcomes/visible.ts";
import { RightAnswer } from "../tasks/best.tsx";
import { scoreCall } from "../tasks/calls.ts";
import { taskHref } from "../tasks/choice.ts";
import { AnswerPicture } from "../tasks/picture.tsx";
import { hasToken } from "../connection.ts";
import { CopyButton, Panel } from "../ui/parts.tsx";
import { Steps } from "./steps.tsx";

export interface GroupSample {
  readonly sampleIndex: number;
  readonly taskId: string;
  readonly completion: string;
  /** Conversation of an episode before the completion. */
  readonly transcript: readonly ChatMessage[];
  /** Calls of tools in the completion. */
  readonly toolCalls: readonly ToolCall[];
  readonly outcome: Outcome;
  readonly note?: string;
  /** Returns the sample as a value of the contract's JSON. */
  readonly json: () => unknown;
}

interface GroupProps {
  readonly title: string;
  readonly task: Task | undefined;
  readonly samples: readonly GroupSample[];
}

export function Group({ title, task, samples }: GroupProps) {
  const { path, query } = address.value;
  const { group: _group, sample, instance: _instance, of: _of, ...rest } = query;
  return (
    <>
      <p class="crumbs">
        <a href={hrefOf(path, rest)}>All samples</a> / {title}
      </p>
      <Steps beside={samples.map(({ sampleIndex }) => ({ sample: String(sampleIndex) }))} />
      {task !== undefined && (
        <div class="halves asked">
          <Asked task={task} />
          <RightAnswer task={task} />
        </div>
      )}
      <ol class="side-by-side">
        {samples.map((one) => (
          <Side key={one.sampleIndex} sample={one} task={task} isMeant={String(one.sampleIndex) === sample} />
        ))}
      </ol>
      {samples.length === 0 && <p class="empty">None of its completions are kept.</p>}
    </>
  );
}

interface AskedProps {
  readonly task: Task;
  /** Id of the evaluation that used this prompt. Given only if two evaluations used different prompts for the task. */
  readonly whom?: string;
}

export function Asked({ task, whom = "" }: AskedProps) {
  return (
    <details class="panel" open>
      <summary>
        <h2>
          What {whom !== "" && `${whom} `}was asked: {task.environment} {task.level}
        </h2>
      </summary>
      <ol class="messages">
        {task.prompt.map(({ role, content }, at) => (
          <li key={at}>
            <h3>{role}</h3>
            <pre tabIndex={0}>{visible(content)}</pre>
          </li>
        ))}
      </ol>
      <p>
        <a href={taskHref(task.environment, { level: task.level })}>Other tasks of its kind</a>
      </p>
    </details>
  );
}

interface SideProps {
  readonly sample: GroupSample;
  readonly task: Task | undefined;
  /** Whether the page's URL names this sample, which is then marked and scrolled into view. Defaults to false. */
  readonly isMeant?: boolean;
  /**
   * Id of the sample's evaluation, and the link to the sample's own page. Given if samples of several evaluations are
   * shown.
   */
  readonly own?: { readonly of: string; readonly href: string };
}

/** Shows a sample with its outcome, as an item of a list. */
export function Side({ sample, task, isMeant = false, own }: SideProps) {
  const { sampleIndex, taskId, completion, transcript, toolCalls, outcome, note, json } = sample;
  const isEpisode = transcript.length > 0 || toolCalls.length > 0;
  const messages = isEpisode ? messagesOf(transcript, { completion, toolCalls }, task?.prompt) : undefined;
  const place = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isMeant) place.current?.scrollIntoView({ block: "nearest", inline: "start" });
  }, [isMeant]);
  return (
    <li ref={place} class={isMeant ? "meant" : ""}>
      <Panel title={own === undefined ? `Sample ${sampleIndex}` : `Sample ${sampleIndex} of ${own.of}`} note={note}>
        <OutcomeShown outcome={outcome} completion={completion} messages={messages} />
        <AnswerPicture taskId={taskId} completion={completion} />
        <p class="steps">
          {own === undefined ? (
            <button
              type="button"
              class="quiet"
              aria-pressed={isMeant}
              onClick={() => refine({ sample: String(sampleIndex) })}
            >
              Link to this one
            </button>
          ) : (
            <a href={own.href}>Its own page</a>
          )}
          <CopyButton text={() => JSON.stringify(json(), undefined, 2)} what="the sample" words="as JSON" />
          {!isEpisode && (
            <CopyButton
              text={() => scoreCall({ taskId, completion }, hasToken.value)}
              what="a call that scores the completion again"
              words="as a call"
            />
          )}
        </p>
      </Panel>
    </li>
  );
}
