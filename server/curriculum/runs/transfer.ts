/** Export and import of runs. */
import { type Codecs, decodeState, encodeState } from "../codec.ts";
import { checkRunId } from "../config.ts";
import type { RunEvent } from "../events.ts";
import { FormatError } from "../json.ts";
import { ok, type Refusal, type Result } from "../results.ts";
import { epochOf, openTasks, type DrawnTask, type RunState } from "../state.ts";
import { invalid, isInvalid, type InstanceKey, type Invalid } from "../types.ts";
import { runView, type RunView } from "../view.ts";
import { encodeChange } from "./journal.ts";
import type { Ports } from "./ports.ts";
import { expiryMs, type Registry } from "./registry.ts";

export interface ExportedRun {
  readonly state: Uint8Array;
  readonly epoch: number;
  readonly cursor: number;
}

export interface ImportedRun<Spec, Key extends InstanceKey> {
  readonly run: RunView<Spec>;
  /** Tasks that were given out and wait for results, in cursor order. */
  readonly outstanding: readonly DrawnTask<Key>[];
}

export function exportRun<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  codecs: Codecs<Spec, Key>,
): ExportedRun {
  const bytes = new TextEncoder().encode(encodeState(state, codecs));
  return { state: bytes, epoch: epochOf(state), cursor: state.cursor };
}

function importedRun<Spec, Key extends InstanceKey>(state: RunState<Spec, Key>): ImportedRun<Spec, Key> {
  return { run: runView(state), outstanding: openTasks(state).filter(({ cursor }) => cursor < state.handedOut) };
}

function readExported<Spec, Key extends InstanceKey>(
  bytes: Uint8Array,
  codecs: Codecs<Spec, Key>,
): RunState<Spec, Key> | Invalid {
  try {
    return decodeState(new TextDecoder().decode(bytes), codecs);
  } catch (error) {
    if (error instanceof FormatError) return invalid("state", error.message);
    throw error;
  }
}

/** The event that puts a state back; `here`: the run that it takes the place of. */
function importEvent<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  runId: string,
  atMs: number,
  here: RunState | undefined,
): RunEvent<Spec, Key> {
  const fresh = runId !== state.runId;
  const epoch = fresh ? 0 : Math.max(epochOf(state), here === undefined ? 0 : epochOf(here)) + 1;
  return { kind: "imported", runId, fresh, epoch, state, atMs };
}

async function inPlace<Spec, Key extends InstanceKey>(
  { clock }: Ports<Spec, Key>,
  registry: Registry<Spec, Key>,
  state: RunState<Spec, Key>,
): Promise<Result<ImportedRun<Spec, Key>> | "absent"> {
  const outcome = await registry.withRun<Result<ImportedRun<Spec, Key>>>(state.runId, async ({ run }) => {
    const atMs = clock.now();
    const committed = await run.commit<{ readonly kind: "imported" } | Refusal>((here) => ({
      events: [importEvent(state, state.runId, atMs, here)],
      value: { kind: "imported" },
    }));
    if (committed.kind !== "imported") return committed;
    return ok(importedRun(run.state()));
  });
  return outcome.kind === "not_found" ? "absent" : outcome;
}

async function asNew<Spec, Key extends InstanceKey>(
  { store, clock, source }: Ports<Spec, Key>,
  registry: Registry<Spec, Key>,
  state: RunState<Spec, Key>,
  runId: string,
): Promise<Result<ImportedRun<Spec, Key>> | "taken"> {
  const atMs = clock.now();
  const { events, records, summary } = encodeChange(undefined, [importEvent(state, runId, atMs, undefined)], source);
  const expiresAtMs = expiryMs(atMs, state.config.timeToLiveMs);
  if ((await store.create({ id: runId, expiresAtMs, events, records, summary })) === "exists") return "taken";
  return registry.withRun<Result<ImportedRun<Spec, Key>>>(runId, async ({ run }) => ok(importedRun(run.state())));
}

/** In place where the id is the exported run's: as a change of the run that has it, or as a new one where none has. */
export async function importRun<Spec, Key extends InstanceKey>(
  ports: Ports<Spec, Key>,
  registry: Registry<Spec, Key>,
  bytes: Uint8Array,
  runId: string | undefined,
): Promise<Result<ImportedRun<Spec, Key>>> {
  const state = readExported(bytes, ports.source);
  if (isInvalid(state)) return state;
  const id = runId ?? state.runId;
  const wrongId = checkRunId(id);
  if (wrongId !== undefined) return wrongId;
  const replaced = id === state.runId ? await inPlace(ports, registry, state) : "absent";
  if (replaced !== "absent") return replaced;
  const made = await asNew(ports, registry, state, id);
  if (made !== "taken") return made;
  return { kind: "already_exists", field: "run_id", message: `there is a run "${id}"` };
}
