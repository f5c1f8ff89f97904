/** Export and import of runs. */
import { checkRunId } from "../check-config.ts";
import { encodeState, parseState, type StateDocument } from "../codec.ts";
import type { RunEvent } from "../events.ts";
import { ok, type Refusal, type Result } from "../results.ts";
import { epochOf, openCursors, type RunState } from "../state.ts";
import { runView, type RunView } from "../view.ts";
import { encodeChange } from "./journal.ts";
import { issuedTasks, type IssuedTask } from "./next-batch.ts";
import type { Ports } from "./ports.ts";
import { expiryMs, type Registry } from "./registry.ts";

export interface ExportedRun {
  readonly state: Uint8Array;
  readonly epoch: number;
  readonly cursor: number;
}

export interface ImportedRun {
  readonly run: RunView;
  /** Tasks that were given out and wait for results, in cursor order. */
  readonly outstanding: readonly IssuedTask[];
}

export function exportRun(state: RunState): ExportedRun {
  const bytes = new TextEncoder().encode(JSON.stringify(encodeState(state)));
  return { state: bytes, epoch: epochOf(state), cursor: state.cursor };
}

function importedRun(state: RunState): ImportedRun {
  const outstanding = openCursors(state).filter((cursor) => cursor < state.handedOut);
  return { run: runView(state), outstanding: outstanding.flatMap((cursor) => issuedTasks(state, cursor, cursor + 1)) };
}

function exportedEpoch({ epochs }: StateDocument): number {
  return epochs.at(-1)?.epoch ?? 0;
}

/** The event that puts a state back; `here`: the run that it takes the place of. */
function importEvent(document: StateDocument, runId: string, atMs: number, here: RunState | undefined): RunEvent {
  const fresh = runId !== document.runId;
  const epoch = fresh ? 0 : Math.max(exportedEpoch(document), here === undefined ? 0 : epochOf(here)) + 1;
  return { kind: "imported", runId, fresh, epoch, state: document, atMs };
}

async function inPlace(
  { clock }: Ports,
  registry: Registry,
  document: StateDocument,
): Promise<Result<ImportedRun> | "absent"> {
  const outcome = await registry.withRun<Result<ImportedRun>>(document.runId, async ({ run }) => {
    const atMs = clock.now();
    const committed = await run.commit<{ readonly kind: "imported" } | Refusal>((here) => ({
      events: [importEvent(document, document.runId, atMs, here)],
      value: { kind: "imported" },
    }));
    if (committed.kind !== "imported") return committed;
    return ok(importedRun(run.state()));
  });
  return outcome.kind === "not_found" ? "absent" : outcome;
}

async function asNew(
  { store, clock }: Ports,
  registry: Registry,
  document: StateDocument,
  runId: string,
): Promise<Result<ImportedRun> | "taken"> {
  const atMs = clock.now();
  const { events, records } = encodeChange(undefined, [importEvent(document, runId, atMs, undefined)]);
  const expiresAtMs = expiryMs(atMs, document.config.timeToLiveMs);
  if ((await store.create({ id: runId, expiresAtMs, events, records })) === "exists") return "taken";
  return registry.withRun<Result<ImportedRun>>(runId, async ({ run }) => ok(importedRun(run.state())));
}

/** In place where the id is the exported run's: as a change of the run that has it, or as a new one where none has. */
export async function importRun(
  ports: Ports,
  registry: Registry,
  state: Uint8Array,
  runId: string | undefined,
): Promise<Result<ImportedRun>> {
  const document = parseState(new TextDecoder().decode(state));
  if (document === undefined) {
    return { kind: "invalid", field: "state", message: "is not a state that this server reads" };
  }
  const id = runId ?? document.runId;
  const invalid = checkRunId(id);
  if (invalid !== undefined) return invalid;
  const replaced = id === document.runId ? await inPlace(ports, registry, document) : "absent";
  if (replaced !== "absent") return replaced;
  const made = await asNew(ports, registry, document, id);
  if (made !== "taken") return made;
  return { kind: "already_exists", field: "run_id", message: `there is a run "${id}"` };
}
