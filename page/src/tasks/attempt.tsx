/**
 * Lets the reader try an answer, which is scored at once without a run. Also shows the best answer if that is allowed.
 */
import { useState } from "preact/hooks";
import type { SolveTaskResponse, Task } from "../../../clients/ts/src/public.ts";
import { EnvironmentService } from "../../../clients/ts/src/public.ts";
import { type Outcome, outcomeOf } from "../../../clients/ts/src/outcomes.ts";
import { present } from "../../../clients/ts/src/reply.ts";
import { address, refine } from "../address.ts";
import { roleAtLeast } from "../caller.ts";
import { OutcomeShown } from "../outcomes/outcome.tsx";
import { gradus, noteFailure } from "../connection.ts";
import { Failure, Panel, Segments } from "../ui/parts.tsx";
import { Best, bestOf, mayReveal } from "./best.tsx";
import { AnswerPicture, type Given, textOf } from "./picture.tsx";

interface Tried {
  readonly given: Given;
  readonly completion: string;
  readonly outcome: Outcome;
}

const kinds = [
  { value: "answer", text: "Just the answer" },
  { value: "completion", text: "A whole completion" },
] as const;

function givenOf(kind: string, text: string): Given {
  return kind === "answer" ? { answer: text } : { completion: text };
}

/** Progress or error of the current request. */
type State = { readonly busy?: boolean; readonly error?: Error };

export function Attempt({ task }: { readonly task: Task }) {
  const kind = address.value.query["give"] === "completion" ? "completion" : "answer";
  const [text, setText] = useState("");
  const [tried, setTried] = useState<Tried>();
  const [best, setBest] = useState<SolveTaskResponse>();
  const [state, setState] = useState<State>({});
  const doing = async (work: () => Promise<void>) => {
    setState({ busy: true });
    try {
      await work();
      setState({});
    } catch (error) {
      setState({ error: noteFailure(error) });
    }
  };
  const score = () => doing(async () => setTried(await tryOf(task, givenOf(kind, text))));
  const reveal = () => doing(async () => setBest(await bestOf(task, tried?.given)));
  const mayScore = state.busy !== true && roleAtLeast("trainer");
  return (
    <Panel title="Try an answer" note="Scored as a model's would be; no run is told.">
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void score();
        }}
      >
        <Segments label="What you give" value={kind} options={kinds} onChoose={(give) => refine({ give })} />
        <textarea
          aria-label={kind === "answer" ? "Your answer" : "Your completion"}
          placeholder={kind === "answer" ? "e.g. [0, 2, 1]" : "<think>…</think>\n<answer>…</answer>"}
          spellcheck={false}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            // Ignore the keys while the button is disabled, because with two requests the first score could arrive
            // last.
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && mayScore) void score();
          }}
        />
        <div class="actions">
          <button type="submit" class="main" disabled={!mayScore}>
            Score it
          </button>
          {mayReveal(task) && (
            <button type="button" disabled={state.busy === true} onClick={() => void reveal()}>
              Reveal the best
            </button>
          )}
        </div>
        {!roleAtLeast("trainer") && <p class="note">To try answers takes a token with the role trainer.</p>}
      </form>
      {state.error !== undefined && <Failure error={state.error} />}
      {tried !== undefined && (
        <div class="result" role="status" aria-label="Its score">
          <OutcomeShown outcome={tried.outcome} completion={tried.completion} />
          {best === undefined && (
            <AnswerPicture key={tried.completion} taskId={task.taskId} completion={tried.completion} />
          )}
        </div>
      )}
      {best !== undefined && <Best best={best} />}
    </Panel>
  );
}

async function tryOf(task: Task, given: Given): Promise<Tried> {
  const { unary } = gradus.value;
  const { taskId } = task;
  const { completion, outcome } = await unary(EnvironmentService.method.tryAnswer, { taskId, ...textOf(given) });
  return { given, completion, outcome: outcomeOf(present(outcome, "outcome")) };
}
