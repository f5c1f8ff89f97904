/** Makes a run's tasks, and defines how journals store arms' specifications and task keys. */
import { assertNever } from "../../../envs/lib/assert-never.ts";
import { deriveSeed } from "../../../envs/lib/rng.ts";
import type { Baseline } from "../../../envs/environment.ts";
import type { Origin, TaskKey } from "../../../envs/origin.ts";
import {
  type Codec,
  FormatError,
  type Json,
  readList,
  readNumber,
  readObject,
  readText,
} from "../../curriculum/json.ts";
import type { MakeOutcome, TaskSource } from "../../runs/dependencies.ts";
import { type Maker, runCaller } from "./make.ts";
import type { RunRanks } from "./run-ranks.ts";
import type { MakeResult } from "../task.ts";
import { specAt, type TaskSpec } from "../spec.ts";
import { detailNumbers, formatNumbers, splitNumbers, thinkingNumbers } from "../task-id-numbers.ts";

function readNumberMap(json: Json | undefined): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(readObject(json)).map(([name, value]) => [name, readNumber(value)]));
}

function readName<Name extends string>(json: Json | undefined, names: Readonly<Record<Name, unknown>>): Name {
  const isName = (text: string): text is Name => Object.hasOwn(names, text);
  const text = readText(json);
  if (isName(text)) return text;
  throw new FormatError(`expected one of ${Object.keys(names).join(", ")}, found "${text}"`);
}

const SOURCES = { synthetic: true, real: true, teacher: true } satisfies Record<TaskSpec["source"], boolean>;

const specs: Codec<TaskSpec> = {
  encode: (spec) => ({ ...spec }),
  decode(json) {
    const from = readObject(json);
    return {
      environment: readText(from["environment"]),
      version: readNumber(from["version"]),
      level: readText(from["level"]),
      parameters: readNumberMap(from["parameters"]),
      split: readName(from["split"], splitNumbers.toWire),
      source: readName(from["source"], SOURCES),
      pool: readText(from["pool"]),
      answerFormat: readName(from["answerFormat"], formatNumbers.toWire),
      thinking: readName(from["thinking"], thinkingNumbers.toWire),
      ...(from["digest"] !== undefined && { digest: readText(from["digest"]) }),
      rewardScheme: readText(from["rewardScheme"]),
      rewardParameters: readNumberMap(from["rewardParameters"]),
      ...(from["calls"] !== undefined && { calls: readNumber(from["calls"]) }),
      ...(from["tools"] !== undefined && { tools: readList(from["tools"]).map((tool) => readText(tool)) }),
      ...(from["detail"] !== undefined && { detail: readName(from["detail"], detailNumbers.toWire) }),
      ...(from["levels"] !== undefined && { levels: readList(from["levels"]).map(readNumberMap) }),
    };
  },
};

// Stored form of a task key: [hash, n], where n depends on the source of the task. For a generated task, n counts the
// candidates that were passed over before its instance. For a row of a pool, n is the row's number, or [row, rank,
// epoch] if these are known. The epoch counts earlier passes through all rows; 0 is left out. For a teacher's task, n
// is the instance itself, which is stored nowhere else. A baseline adds its value, and its bound if it is not proven.

/** Returns a task key in its stored form. */
export function encodeKey({ origin, hash, baseline, rank, epoch }: TaskKey): Json {
  const short = Buffer.from(hash, "hex").toString("base64url");
  const key: Json[] = [short, encodeOrigin(origin, rank, epoch)];
  if (baseline === undefined) return key;
  return baseline.proven ? [...key, baseline.value] : [...key, baseline.value, baseline.bound];
}

function encodeOrigin(origin: Origin, rank: number | undefined, epoch: number | undefined): Json {
  switch (origin.kind) {
    case "generated":
      return origin.attempt;
    case "row":
      return encodeRow(origin.row, rank, epoch);
    case "inline":
      return Buffer.from(origin.instance).toString("base64url");
    default:
      return assertNever(origin);
  }
}

function encodeRow(row: number, rank: number | undefined, epoch: number | undefined): Json {
  if (epoch !== undefined) return [row, rank ?? null, epoch];
  return rank === undefined ? row : [row, rank];
}

function decodeRow(json: Json | undefined): { readonly row: number } & Pick<TaskKey, "rank" | "epoch"> {
  if (typeof json === "number") return { row: json };
  const [row, rank, epoch] = readList(json);
  return {
    row: readNumber(row),
    ...(typeof rank === "number" && { rank }),
    ...(epoch !== undefined && { epoch: readNumber(epoch) }),
  };
}

/** Reads a task key from its stored form. `spec` and `seed` belong to its task. */
export function decodeKey(json: Json | undefined, spec: TaskSpec, seed: bigint): TaskKey {
  const [short, n, value, bound] = readList(json);
  const hash = Buffer.from(readText(short), "base64url").toString("hex");
  const baseline = decodeBaseline(value, bound);
  const known = baseline === undefined ? { hash } : { hash, baseline };
  if (spec.source === "real") {
    const { row, ...place } = decodeRow(n);
    return { origin: { kind: "row", pool: spec.pool, row, contentHash: hash }, ...known, ...place };
  }
  if (spec.source === "teacher") {
    const instance = new Uint8Array(Buffer.from(readText(n), "base64url"));
    return { origin: { kind: "inline", instance }, ...known };
  }
  return { origin: { kind: "generated", parameters: spec.parameters, seed, attempt: readNumber(n) }, ...known };
}

function decodeBaseline(value: Json | undefined, bound: Json | undefined): Baseline | undefined {
  if (value === undefined) return undefined;
  const known = readNumber(value);
  return bound === undefined
    ? { value: known, bound: known, proven: true }
    : { value: known, bound: readNumber(bound), proven: false };
}

/** Delay, in milliseconds, before a draw tries again to make tasks that took too long. */
const TIMEOUT_RETRY_MS = 1000;

/**
 * Returns the functions that make a run's tasks. If `ranks` is left out, no row of a pool has a rank of difficulty.
 */
export function createRunSource(maker: Maker, ranks?: RunRanks): TaskSource<TaskSpec, TaskKey> {
  const madeOf = (result: MakeResult): MakeOutcome<TaskKey> => {
    switch (result.kind) {
      case "made":
        // The task is cached, because the run soon asks for it by its key, to give it out.
        maker.keep(result.task);
        return { kind: "task", key: result.task.key };
      case "exhausted":
        return { kind: "none", message: result.message };
      case "timeout":
        return { kind: "unavailable", message: result.message, retryDelayMs: TIMEOUT_RETRY_MS };
      case "overloaded": {
        const { retryDelayMs } = result;
        return {
          kind: "unavailable",
          message: "too many tasks wait to be made on this server: try again later",
          retryDelayMs,
        };
      }
      case "unavailable":
        return result;
      case "cancelled":
        return { kind: "cancelled" };
      default:
        return assertNever(result);
    }
  };
  return {
    specs,
    keys: {
      encode: encodeKey,
      decode: (json, { arm, level, seed }) => decodeKey(json, specAt(arm.spec, level), seed),
    },
    async make(places, signal, runId) {
      const [first] = places;
      if (first === undefined) return [];
      const { arm, runSeed, among = [] } = first;
      const { spec } = arm;
      if (spec.source === "real") {
        const seed = deriveSeed("arm", runSeed, arm.id);
        // Arms that choose rows by pass rate (`row` is set) do not use ranks.
        const rankAt = first.row === undefined ? ranks?.of(arm, among)?.at : undefined;
        return places.map(({ ordinal, listed }) => {
          if (listed !== undefined && listed.row === undefined)
            return { kind: "none", message: `pool "${spec.pool}" no longer has the row that the run chose` };
          return madeOf(maker.makeRow(spec, { seed, ordinal, rankAt, listed: listed?.row }));
        });
      }
      if (spec.source === "teacher") {
        // The teacher (a model that proposes tasks) stores a task for each arm and task number of a run. Seeds would
        // not identify a task, because a changed run uses the same seeds again.
        const wanted = { scope: `run ${runId}/${runSeed}`, places: places.map((each) => `${arm.id}/${each.ordinal}`) };
        return (await maker.fromTeacher(spec, { ...wanted, signal })).map(madeOf);
      }
      const ofLevels = [...Map.groupBy(places, ({ level }) => level)];
      const made = await Promise.all(
        ofLevels.map(async ([level, of]) => {
          const seeds = of.map(({ seed }) => seed);
          const results = await maker.make(specAt(spec, level), seeds, { caller: runCaller(runId), signal });
          return of.map((place, i) => [place, madeOf(results[i] as MakeResult)] as const);
        }),
      );
      const outcomes = new Map(made.flat());
      return places.map((place) => outcomes.get(place) as MakeOutcome<TaskKey>);
    },
  };
}
