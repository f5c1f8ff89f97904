/** Shows the best answer to a task, to people who may see it. */
import type { SolveTaskResponse, Task } from "../../../clients/ts/src/public.ts";
import { EnvironmentService, Split } from "../../../clients/ts/src/public.ts";
import { roleAtLeast } from "../caller.ts";
import { visible } from "../outcomes/visible.ts";
import { GradusError } from "../../../clients/ts/src/errors.ts";
import { useAnswer } from "../answers.ts";
import { gradus } from "../connection.ts";
import { Failure, Facts, Panel, Waiting } from "../ui/parts.tsx";
import { figure } from "../words.ts";
import { type Given, Picture, textOf } from "./picture.tsx";

/**
 * Returns whether the reader may see the answer to a task: only operators, and nobody if the task is of the split
 * bench.
 */
export function mayReveal({ split }: Task): boolean {
  return roleAtLeast("operator") && split !== Split.BENCH;
}

export function bestOf({ taskId }: Task, given: Given | undefined): Promise<SolveTaskResponse> {
  const { text } = textOf(given);
  const beside = text === undefined ? {} : { beside: text };
  return gradus.value.unary(EnvironmentService.method.solveTask, { taskId, draw: true, ...beside });
}

/** Shows operators what a right answer to a task would be, or why it is not shown. Shows nothing to other callers. */
export function RightAnswer({ task }: { readonly task: Task }) {
  const isShown = mayReveal(task);
  const answer = useAnswer(isShown ? () => bestOf(task, undefined) : undefined, [task.taskId]);
  if (!roleAtLeast("operator")) return null;
  const { value, error, waiting, again } = answer;
  return (
    <Panel title="What would be right">
      {!isShown && <p class="note">The answers of a benchmark are secret.</p>}
      {isShown && error === undefined && (value === undefined || waiting) && <Waiting />}
      {error !== undefined && isUnknown(error) && <p class="note">{error.message}</p>}
      {error !== undefined && !isUnknown(error) && <Failure error={error} again={again} />}
      {error === undefined && value !== undefined && !waiting && <Best best={value} />}
    </Panel>
  );
}

/** Returns whether an error says that the task has no known answer. */
function isUnknown(error: Error): boolean {
  return error instanceof GradusError && error.code === "FAILED_PRECONDITION";
}

export function Best({ best: { answer, baseline, svg } }: { readonly best: SolveTaskResponse }) {
  return (
    <section class="result" aria-label="A best answer">
      <h3>A best answer</h3>
      <pre tabIndex={0}>{visible(answer)}</pre>
      {baseline !== undefined && (
        <Facts
          facts={[
            ["value", figure(baseline.value)],
            ["known as", baseline.value === baseline.bound ? "proven optimal" : `at best ${figure(baseline.bound)}`],
          ]}
        />
      )}
      {svg !== "" && <Picture svg={svg} what="A best answer in its task" />}
    </section>
  );
}
