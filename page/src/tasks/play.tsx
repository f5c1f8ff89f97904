/**
 * Lets the reader play a task of several turns call by call. No run records the calls, and the server stores no
 * episode.
 */
import { useState } from "preact/hooks";
import type { ChatMessage, SolveTaskResponse, Task, Tool, TryAnswerRequest } from "../../../clients/ts/src/public.ts";
import { EnvironmentService } from "../../../clients/ts/src/public.ts";
import { outcomeOf, type Outcome } from "../../../clients/ts/src/outcomes.ts";
import { present } from "../../../clients/ts/src/reply.ts";
import { messageOf } from "../../../clients/ts/src/turns.ts";
import { address, refine } from "../address.ts";
import { roleAtLeast } from "../caller.ts";
import { Conversation } from "../outcomes/conversation.tsx";
import { OutcomeShown } from "../outcomes/outcome.tsx";
import { visible } from "../outcomes/visible.ts";
import { gradus, noteFailure } from "../connection.ts";
import { Failure, Panel, Segments } from "../ui/parts.tsx";
import { counted } from "../words.ts";
import { Best, bestOf, mayReveal } from "./best.tsx";
import { AnswerPicture } from "./picture.tsx";

/** Episode so far. */
interface Episode {
  readonly taskId: string;
  readonly callsLeft: number;
  readonly messages: readonly ChatMessage[];
  /** Outcome of the last completion, if the episode is over or has no reward. */
  readonly outcome?: Outcome | undefined;
}

type Asked = Partial<Pick<TryAnswerRequest, "text" | "toolCalls" | "end">>;

export function Play({ task }: { readonly task: Task }) {
  const begun: Episode = { taskId: task.taskId, callsLeft: task.callsMax, messages: [] };
  const [episode, setEpisode] = useState(begun);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const [best, setBest] = useState<SolveTaskResponse>();
  const isOver = episode.outcome?.kind === "scored";
  const doing = async (work: () => Promise<void>) => {
    setBusy(true);
    try {
      await work();
      setError(undefined);
    } catch (failure) {
      setError(noteFailure(failure));
    }
    setBusy(false);
  };
  const send = (asked: Asked) => doing(async () => setEpisode(await played(episode, asked)));
  const reveal = () => doing(async () => setBest(await bestOf(task, undefined)));
  const answer = episode.messages.findLast(({ role, content }) => role === "assistant" && content !== "")?.content;
  const mayPlay = roleAtLeast("trainer") && !isBusy;
  return (
    <Panel title="Play it call by call" note="Scored as a model's calls would be; no run is told.">
      {episode.messages.length > 0 && <Conversation messages={episode.messages} author="you" />}
      {isOver ? (
        <div class="result" role="status" aria-label="Its score">
          <OutcomeShown outcome={episode.outcome} completion="" hasText={false} />
        </div>
      ) : (
        <>
          <p class="note" role="status">
            {counted(episode.callsLeft, "call")} left
          </p>
          {episode.outcome?.kind === "unscored" && <p class="effect poor">{visible(episode.outcome.detail)}</p>}
          <CallForm tools={task.tools} mayPlay={mayPlay} onSend={(asked) => void send(asked)} />
        </>
      )}
      {error !== undefined && <Failure error={error} />}
      {answer !== undefined && <AnswerPicture key={answer} taskId={task.taskId} completion={answer} />}
      {best === undefined && mayReveal(task) && (
        <div class="actions">
          <button type="button" class="quiet" disabled={isBusy} onClick={() => void reveal()}>
            Reveal the best
          </button>
        </div>
      )}
      {best !== undefined && <Best best={best} />}
      {episode.messages.length > 0 && (
        <div class="actions">
          {!isOver && (
            <button type="button" disabled={!mayPlay} onClick={() => void send({ end: true })}>
              End it here
            </button>
          )}
          <button type="button" disabled={isBusy} onClick={() => setEpisode(begun)}>
            Begin again
          </button>
        </div>
      )}
      {!roleAtLeast("trainer") && <p class="note">To play takes a token with the role trainer.</p>}
    </Panel>
  );
}

/** Sends a completion, and returns the episode after it. */
async function played({ taskId, callsLeft, messages }: Episode, asked: Asked): Promise<Episode> {
  const reply = await gradus.value.unary(EnvironmentService.method.tryAnswer, { taskId, ...asked });
  const outcome = outcomeOf(present(reply.outcome, "outcome"));
  const { toolCalls = [], end = false } = asked;
  const said = end ? [] : [messageOf({ toolCalls }, reply.completion)];
  if (outcome.kind === "scored") return { taskId, callsLeft: 0, messages: [...messages, ...said], outcome };
  const { turn } = outcome;
  // A completion without a reward may be sent again, so the episode stays as it is.
  if (turn === undefined) return { taskId, callsLeft, messages, outcome };
  return { ...turn, messages: [...messages, ...said, ...turn.messages] };
}

interface CallFormProps {
  readonly tools: readonly Tool[];
  readonly mayPlay: boolean;
  readonly onSend: (asked: Asked) => void;
}

/** Form of one call: of a tool, or an answer, or a whole completion. */
function CallForm({ tools, mayPlay, onSend }: CallFormProps) {
  const kinds = [
    ...tools.map(({ name }) => ({ value: `tool ${name}`, text: `Call ${name}` })),
    { value: "answer", text: "Just the answer" },
    { value: "completion", text: "A whole completion" },
  ];
  const wanted = address.value.query["give"];
  const kind = kinds.find(({ value }) => value === wanted)?.value ?? kinds[0]?.value ?? "answer";
  const tool = tools.find(({ name }) => kind === `tool ${name}`);
  const [text, setText] = useState("");
  const send = () => {
    onSend(askedOf(kind, tool, text));
    setText("");
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <Segments label="What you give" value={kind} options={kinds} onChoose={(give) => refine({ give })} />
      {tool !== undefined && (
        <details>
          <summary>{visible(tool.description)}</summary>
          <pre tabIndex={0}>{visible(JSON.stringify(JSON.parse(tool.parametersJson), null, 2))}</pre>
        </details>
      )}
      <textarea
        aria-label={tool === undefined ? "Your answer" : "Arguments of the call, as JSON"}
        placeholder={tool === undefined ? "" : exampleOf(tool)}
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && mayPlay) send();
        }}
      />
      <div class="actions">
        <button type="submit" class="main" disabled={!mayPlay}>
          Make the call
        </button>
      </div>
    </form>
  );
}

function askedOf(kind: string, tool: Tool | undefined, text: string): Asked {
  if (tool === undefined) return { text: { case: kind === "completion" ? "completion" : "answer", value: text } };
  const call = { id: "call00000", name: tool.name, argumentsJson: text.trim() === "" ? "{}" : text };
  return { toolCalls: [{ $typeName: "gradus.v1.ToolCall", ...call }] };
}

/** Returns an outline of a tool's arguments, e.g. {"code": …}. */
function exampleOf({ parametersJson }: Tool): string {
  const { properties = {} } = JSON.parse(parametersJson) as { readonly properties?: Readonly<Record<string, unknown>> };
  return `{${Object.keys(properties)
    .map((name) => `"${name}": …`)
    .join(", ")}}`;
}
