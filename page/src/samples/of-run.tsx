import type { ReadRun } from "../runs/state.ts";
export function SamplesOfRun({ run }: { readonly run: ReadRun }) {
  return <p>{run.runId}</p>;
}
