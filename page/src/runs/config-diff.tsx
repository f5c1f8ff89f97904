/** Shows in a table what differs between the configurations of runs. */
import { useMemo } from "preact/hooks";
import { visible } from "../outcomes/visible.ts";
import { Panel } from "../ui/parts.tsx";
import { Rows } from "../ui/rows.tsx";
import { counted } from "../words.ts";
import { type Difference, differencesOf } from "./differences.ts";
import type { ReadRun } from "./state.ts";

export function ConfigDiff({ runs }: { readonly runs: readonly ReadRun[] }) {
  const differences = useMemo(
    () => differencesOf(runs),
    // Compute the differences again only for new versions, because every change of a configuration raises its version.
    [runs.map(({ runId, state }) => `${runId} ${state.version}`).join()],
  );
  const columns = useMemo(() => runs.map(({ runId }) => runId), [runs.map(({ runId }) => runId).join()]);
  return (
    <Panel title="What differs in their configurations" note="As they are now, with the changes since their creation.">
      {differences.length === 0 ? (
        <p class="empty">Nothing: they are configured alike.</p>
      ) : (
        <>
          <p class="note">{counted(differences.length, "field")}</p>
          <Rows
            label="Differences"
            columns={["field", ...columns]}
            words={[0, ...columns.map((_, at) => at + 1)]}
            count={differences.length}
            keyOf={(at) => differences[at]?.field ?? at}
            row={(at) => cellsOf(differences[at] as Difference)}
          />
        </>
      )}
    </Panel>
  );
}

function cellsOf({ field, values }: Difference) {
  return [
    field,
    ...values.map((value) =>
      value === undefined ? (
        <span class="note">not set</span>
      ) : (
        <code class="clipped" title={visible(value)}>
          {visible(value)}
        </code>
      ),
    ),
  ];
}
