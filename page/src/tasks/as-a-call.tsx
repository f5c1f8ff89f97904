/** Shows the code that requests the same task from a program. */
import { lazy, Suspense } from "preact/compat";
import type { Environment } from "../../../clients/ts/src/public.ts";
import { address, refine } from "../address.ts";
import { CopyButton, Panel, Segments } from "../ui/parts.tsx";
import { callsOf } from "./calls.ts";
import type { ChosenTask } from "./choice.ts";

/** Load the highlighter lazily: it is a seventh of the first view's size, and its colours are not urgent. */
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
