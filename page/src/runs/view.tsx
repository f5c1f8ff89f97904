/** View of runs: the list, or one run. */
import { address } from "../address.ts";
import { RunPage } from "./run.tsx";
import { RunList } from "./list.tsx";

export function RunsView() {
  const [, runId] = address.value.path;
  return runId === undefined ? <RunList /> : <RunPage key={runId} runId={runId} />;
}
