/** Shows the configuration of a run. */
import { toJson } from "@bufbuild/protobuf";
import { type RunConfig, RunConfigSchema } from "../../../clients/ts/src/public.ts";
import { CopyButton, Facts, Panel } from "../ui/parts.tsx";
import { count } from "../words.ts";
import { policyName, type ReadRun, shapeOf } from "./state.ts";

/** Returns the level of an arm. Undefined if the arm has parameters instead, or was added after the run's creation. */
export function levelOf({ arms }: RunConfig, armId: string): string | undefined {
  const difficulty = arms.find(({ id }) => id === armId)?.spec?.difficulty;
  return difficulty?.case === "level" ? difficulty.value : undefined;
}

export function Configuration({ run }: { readonly run: ReadRun }) {
  const { config, state } = run;
  const json = JSON.stringify(toJson(RunConfigSchema, config), undefined, 2);
  const { seed, lag } = config;
  const { numGenerations, promptsPerUpdate, length } = shapeOf(run);
  return (
    <div class="stack">
      <Panel title="In short">
        <Facts
          facts={[
            ["policy now", policyName(state.policy)],
            ["arms", count(state.arms.length)],
            ["completions of each prompt", count(numGenerations)],
            ["prompts of an update", count(promptsPerUpdate)],
            ["length", length === 0n ? "no end" : `${count(length)} tasks`],
            ["seed", String(seed)],
            ["feedback lag", lag.case === "feedbackUnbounded" ? "unbounded" : String(lag.value ?? 1)],
            ["epoch", state.epoch],
            ["incarnation", <code>{state.incarnation}</code>],
          ]}
        />
      </Panel>
      <Panel title="As it was created">
        <div class="copied">
          <pre tabIndex={0}>{json}</pre>
          <CopyButton text={json} what="the configuration" />
        </div>
      </Panel>
    </div>
  );
}
