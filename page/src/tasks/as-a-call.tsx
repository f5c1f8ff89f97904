/** The same task, asked for by a program. */
import { lazy, Suspense } from "preact/compat";
import type { Environment } from "../../../clients/ts/src/public.ts";
import { address, refine } from "../address.ts";
import { CopyButton, Panel, Segments } from "../ui/parts.tsx";
import { callsOf } from "./calls.ts";
import type { ChosenTask } from "./choice.ts";

/** The highlighter weighs a seventh of the first view, and nobody waits for its colours. */
const Highlighted = lazy(async () => (await import("../ui/highlighted.tsx")).Highlighted);

export function AsACall({ chosen, environment }: { readonly chosen: ChosenTask; readonly environment: Environment }) {
  const calls = callsOf({ ...chosen, level: chosen.level ?? environment.levels[0]?.name });
  const call = calls.find(({ name }) => name === address.value.query["call"]) ?? calls[0];
  if (call === undefined) return null;
  return (
    <Panel title="As a call">
      <Segments
        label="Language"
        value={call.name}
        options={calls.map(({ name }) => ({ value: name, text: name }))}
        onChoose={(name) => refine({ call: name })}
      />
      <div class="copied">
        <Suspense
          fallback={
            <pre tabIndex={0}>
              <code>{call.text}</code>
            </pre>
          }
        >
          <Highlighted code={call.text} language={call.language} />
        </Suspense>
        <CopyButton text={call.text} what={`the call in ${call.name}`} />
      </div>
    </Panel>
  );
}
