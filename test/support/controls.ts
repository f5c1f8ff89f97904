/** What operators changed of a run, as its history tells it. */
import type { ControlRecord, RunHandle } from "../../clients/ts/src/public.ts";

/** All of each record: when it was is not in it, and groups are not named. */
export async function controlsOf(run: RunHandle): Promise<readonly ControlRecord[]> {
  const records = await run.history();
  return records.flatMap(({ kind }) => (kind.case === "control" ? [kind.value] : []));
}
