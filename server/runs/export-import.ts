/**
 * Exports and imports runs. An export is a SavedRun (proto/gradus/internal/v1/run.proto) compressed with gzip: the
 * run's state, then the newest records of its history. Both are processed in small steps, so that other work can run in
 * between.
 */
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { recordMissing, type StoredRecord } from "../stores/store.ts";
import { checkRunId } from "../curriculum/check-config.ts";
import type { Imported } from "../curriculum/events.ts";
import { FormatError } from "../curriculum/json.ts";
import { historyOffset, refusedUnderControlOf, underControlOf } from "../curriculum/importing.ts";
import type { IssuedTask } from "../curriculum/batches.ts";
import { issuedTask, openGroups, type RunState } from "../curriculum/state.ts";
import type { Codecs } from "../curriculum/event-codec.ts";
import { decodeRecord, encodeRecords, encodeState, piecesOf, stateReader } from "../curriculum/state-codec.ts";
import {
  type InstanceKey,
  invalid,
  type Invalid,
  isInvalid,
  ok,
  type Refusal,
  type Result,
  type RunConfig,
} from "../curriculum/types.ts";
import { runView, type RunView } from "../curriculum/run-view.ts";
import { withoutLoose } from "./history-records.ts";
import { missingRecord } from "./history-page.ts";
import { encodeChange, encodeSummary } from "./journal.ts";
import type { LiveRun } from "./live-run.ts";
import type { Clock } from "../base/clock.ts";
import type { Ports } from "./dependencies.ts";
import { keptMs } from "./expiry.ts";
import type { Registry } from "./loaded-runs.ts";
import { inTurns, nextTurn } from "../base/clock-turns.ts";

interface ImportedRun<Spec, Key extends InstanceKey> {
  readonly run: RunView<Spec>;
  /** Current configuration of the run, with the arms of the tasks. */
  readonly config: RunConfig<Spec>;
  /** Tasks that were handed out and wait for results, in cursor order. */
  readonly outstanding: readonly IssuedTask<Key>[];
}

/** Maximum number of history records in an export. The newest records are exported. */
const RECORDS_MAX = 16_384;
/** Maximum number of characters of the history records in an export. */
const RECORDS_LENGTH_MAX = 16 * 2 ** 20;
const RECORDS_PER_READ = 512;

/**
 * Maximum size of an uncompressed export. Every run fits, because its samples, hashes and history are bounded
 * (state.ts, issued-hashes.ts and this file).
 */
const EXPANDED_BYTES_MAX = 256 * 2 ** 20;

const compress = promisify<Uint8Array, { level: number }, Uint8Array>(gzip);
const expand = promisify<Uint8Array, { maxOutputLength: number }, Uint8Array>(gunzip);

/** Returns the newest records of a run's history before the position `before`, as many as an export may hold. */
async function newestRecords<Spec, Key extends InstanceKey>(
  { store }: Ports<Spec, Key>,
  run: Pick<LiveRun<Spec, Key>, "key">,
  before: number,
): Promise<readonly StoredRecord[]> {
  const kept: StoredRecord[] = [];
  let length = 0;
  let from = Math.max(0, before - RECORDS_MAX);
  while (from < before) {
    const page = await store.records(run.key, from, Math.min(RECORDS_PER_READ, before - from));
    const last = page.at(-1);
    if (last === undefined) break;
    from = last.seq + 1;
    for (const record of page) {
      if (record.seq >= before) break;
      kept.push(record);
      length += record.body.length;
    }
    let tooMany = 0;
    while (length > RECORDS_LENGTH_MAX) length -= kept[tooMany++]?.body.length ?? 0;
    kept.splice(0, tooMany);
  }
  return withoutLoose(kept);
}

export async function exportRun<Spec, Key extends InstanceKey>(ports: Ports<Spec, Key>, run: LiveRun<Spec, Key>) {
  const state = run.state();
  const pieces: Uint8Array[] = [];
  const journal = await ports.store.checksum(run.key, state.version);
  await inTurns(ports.clock, encodeState(state, ports.source, journal), (piece) => pieces.push(piece));
  const records = await newestRecords(ports, run, state.nextSeq);
  const missing = missingRecord(state, records, records[0]?.seq ?? 0);
  if (missing !== undefined && (await run.refresh()) === "fresh") throw recordMissing(missing);
  await inTurns(ports.clock, encodeRecords(records), (piece) => pieces.push(piece));
  // Level 1 is the fastest. A higher level saves little, because most of the data are digests and rewards.
  const bytes = await compress(Buffer.concat(pieces), { level: 1 });
  return { state: bytes, epoch: state.epoch, cursor: state.cursor };
}

interface Exported<Spec, Key extends InstanceKey> {
  readonly state: RunState<Spec, Key>;
  /** Encoded state, as the export has it. */
  readonly bytes: Uint8Array;
  readonly records: readonly StoredRecord[];
}

async function readExported<Spec, Key extends InstanceKey>(
  bytes: Uint8Array,
  clock: Clock,
  codecs: Codecs<Spec, Key>,
): Promise<Exported<Spec, Key> | Invalid> {
  const expanded = await expand(bytes, { maxOutputLength: EXPANDED_BYTES_MAX }).catch(() => undefined);
  if (expanded === undefined)
    return invalid(
      "state",
      "it is not an export that this server can read: pass the bytes that ExportRun of this version returns",
    );
  const reader = stateReader(codecs);
  const records: StoredRecord[] = [];
  let end = 0;
  try {
    await inTurns(clock, piecesOf(expanded), (piece) => {
      if (piece.kind === "record") records.push(decodeRecord(piece.bytes));
      else if (records.length > 0)
        throw new FormatError("the export is damaged (its history is not its last part): export the run again");
      else {
        reader.take(piece.bytes);
        end = piece.end;
      }
    });
    return { state: reader.end(), bytes: expanded.subarray(0, end), records };
  } catch (error) {
    if (error instanceof FormatError) return invalid("state", error.message);
    throw error;
  }
}

/**
 * Returns the event that restores an exported state. `here` is the state of the run that is replaced, if there is one.
 * `keeper` is set if that run keeps its own control: policy, weights, masks and the like.
 */
function importEvent<Spec, Key extends InstanceKey>(
  { state, bytes }: Exported<Spec, Key>,
  names: Pick<Imported<Spec, Key>, "runId" | "incarnation" | "atMs">,
  here: RunState<Spec, Key> | undefined,
  keeper?: RunState<Spec, Key>,
): Imported<Spec, Key> {
  const keeps = keeper && { policyState: underControlOf(keeper, state).policyState };
  return { kind: "imported", ...names, epoch: Math.max(state.epoch, here?.epoch ?? 0) + 1, state, bytes, keeps };
}

/** Returns the exported history records, moved to their positions in the importing run. */
function placed(
  { state, records }: Exported<unknown, InstanceKey>,
  here: RunState | undefined,
): readonly StoredRecord[] {
  const offset = historyOffset(here, state);
  return records.map(({ seq, body }) => ({ seq: seq + offset, body }));
}

/** Number of tasks that are looked up at a time, before other work can run. They take about a millisecond. */
const TASKS_PER_TURN = 512;

async function importedRun<Spec, Key extends InstanceKey>(
  state: RunState<Spec, Key>,
  clock: Clock,
): Promise<ImportedRun<Spec, Key>> {
  const outstanding: IssuedTask<Key>[] = [];
  for (const { batch, group } of openGroups(state)) {
    if (group.handedOutAtMs === null) continue;
    outstanding.push(issuedTask(state, batch, group.task));
    if (outstanding.length % TASKS_PER_TURN === 0) await nextTurn(clock);
  }
  return { run: runView(state), config: state.config, outstanding };
}

async function inPlace<Spec, Key extends InstanceKey>(
  { clock, newIncarnation, haveSameTasks }: Ports<Spec, Key>,
  registry: Registry<Spec, Key>,
  exported: Exported<Spec, Key>,
  { by, restoreControl }: ImportOptions,
): Promise<Result<ImportedRun<Spec, Key>> | "absent"> {
  const { runId } = exported.state;
  const outcome = await registry.withRun<Result<ImportedRun<Spec, Key>>>(runId, async ({ run }) => {
    const names = { runId, incarnation: newIncarnation(), atMs: clock.now() };
    const committed = await run.commit<{ readonly kind: "imported" } | Refusal>((here) => {
      const refused = restoreControl ? undefined : refusedUnderControlOf(here, exported.state, haveSameTasks);
      if (refused !== undefined) return { events: [], value: refused };
      const event = importEvent(exported, names, here, restoreControl ? undefined : here);
      return { events: [event], records: placed(exported, here), by, value: { kind: "imported" } };
    });
    if (committed.kind !== "imported") return committed;
    const here = await run.refresh();
    if (here !== "fresh") return here;
    return ok(await importedRun(run.state(), clock));
  });
  return outcome.kind === "not_found" ? "absent" : outcome;
}

async function asNew<Spec, Key extends InstanceKey>(
  { store, clock, source, newIncarnation }: Ports<Spec, Key>,
  registry: Registry<Spec, Key>,
  exported: Exported<Spec, Key>,
  { runId, by }: ImportOptions & { readonly runId: string },
): Promise<Result<ImportedRun<Spec, Key>> | "taken"> {
  const atMs = clock.now();
  const event = importEvent(exported, { runId, incarnation: newIncarnation(), atMs }, undefined);
  // A run that is created by an import is not paused, even if the exported run was.
  const resumed = exported.state.paused ? [{ kind: "resumed" } as const] : [];
  const { state, events, records } = encodeChange(undefined, { events: [event, ...resumed], by }, source, atMs);
  const timeToLiveMs = keptMs(exported.state.config.timeToLiveMs);
  const all = [...placed(exported, undefined), ...records];
  if (
    (await store.create({
      id: runId,
      timeToLiveMs,
      events,
      records: all,
      summary: encodeSummary(state, undefined),
    })) === "exists"
  )
    return "taken";
  return registry.withRun<Result<ImportedRun<Spec, Key>>>(runId, async ({ run }) => {
    const here = await run.refresh();
    return here === "fresh" ? ok(await importedRun(run.state(), clock)) : here;
  });
}

export interface ImportOptions {
  /** Id of the imported run. Undefined: the id of the exported run. */
  readonly runId?: string | undefined;
  readonly by?: string | undefined;
  /**
   * Whether an existing run takes its control (policy, weights, masks and the like) from the export. If false, it keeps
   * its own.
   */
  readonly restoreControl?: boolean;
}

/**
 * Imports a run, under the exported run's id unless another id is given. Under the exported run's id, the state of an
 * existing run is replaced. In all other cases a new run is created, and an id that is in use is refused.
 */
export async function importRun<Spec, Key extends InstanceKey>(
  ports: Ports<Spec, Key>,
  registry: Registry<Spec, Key>,
  bytes: Uint8Array,
  asked: ImportOptions,
): Promise<Result<ImportedRun<Spec, Key>>> {
  const exported = await readExported(bytes, ports.clock, ports.source);
  if (isInvalid(exported)) return exported;
  const id = asked.runId ?? exported.state.runId;
  const wrongId = checkRunId(id);
  if (wrongId !== undefined) return wrongId;
  const replaced = id === exported.state.runId ? await inPlace(ports, registry, exported, asked) : "absent";
  if (replaced !== "absent") return replaced;
  const made = await asNew(ports, registry, exported, { ...asked, runId: id });
  if (made !== "taken") return made;
  return { kind: "already_exists", field: "run_id", message: `run "${id}" already exists: choose another run id` };
}
