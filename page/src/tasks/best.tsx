/** Shows the best answer to a task, to people who may see it. */
import type { SolveTaskResponse, Task } from "../../../clients/ts/src/public.ts";
import { EnvironmentService, Split } from "../../../clients/ts/src/public.ts";
import { roleAtLeast } from "../caller.ts";
import { visible } from "../outcomes/visible.ts";
import { gradus } from "../session.ts";
import { Facts } from "../ui/parts.tsx";
import { figure } from "../words.ts";
import { type Given, Picture, textOf } from "./picture.tsx";

/** Returns whether the reader may see the answer. Those of benchmarks are secret. */
export function mayReveal({ split }: Task): boolean {
  return roleAtLeast("operator") && split !== Split.BENCH;
}

export function bestOf({ taskId }: Task, given: Given | undefined): Promise<SolveTaskResponse> {
  const { text } = textOf(given);
  const beside = text === undefined ? {} : { beside: text };
  return gradus.value.unary(EnvironmentService.method.solveTask, { taskId, draw: true, ...beside });
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
