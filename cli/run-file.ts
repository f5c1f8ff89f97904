/**
 * Run files: a run's configuration in YAML or JSON. The fields are those of RunConfig in the contract (curriculum.proto),
 * as prompts_per_update or promptsPerUpdate, and run_id beside them; enums go without their prefix too, and times as 10m.
 * What is wrong names the file's line and the contract's field, whether it was found here or by a server.
 */
import { fromJson, type JsonObject } from "@bufbuild/protobuf";
import { isMap, isNode, isScalar, LineCounter, type Node, parseDocument } from "yaml";
import {
  CreateRunRequestSchema,
  type GradusCode,
  GradusError,
  type RunConfig,
  RunConfigSchema,
} from "../clients/ts/src/public.ts";
import { readFileOf } from "./files.ts";
import { CliProblem } from "./problem.ts";
import { aliasesOf, NODES_MAX, type Problem, type Reading, readFields } from "./run-files/fields.ts";

/** A run file that was read. */
export interface RunFile {
  /** As it was named. */
  readonly path: string;
  /** Undefined: the file leaves it to whoever starts the run. */
  readonly runId: string | undefined;
  readonly config: RunConfig;
  /** The line of a field, or of the nearest one around it that the file gives, e.g. of "policy.bandit.epsilon". */
  readonly lineOf: (field: string) => number;
}

export type RunFileResult =
  | { readonly kind: "read"; readonly file: RunFile }
  /** Each as "run.yaml:12: policy.bandit.epsilon: …", in the order of the file. */
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

/** Reads the file that an option names; its problems come out as one that ends the command. */
export function readRunFile(option: string, path: string): RunFile {
  const result = parseRunFile(path, readFileOf(option, path));
  if (result.kind === "read") return result.file;
  throw new CliProblem("usage", result.problems.join("\n"));
}

/** Reads a run file's text; `path` is for messages. */
export function parseRunFile(path: string, text: string): RunFileResult {
  const lines = new LineCounter();
  // Seeds have 64 bits.
  const document = parseDocument(text, { lineCounter: lines, intAsBigInt: true, prettyErrors: false });
  const lineAt = (offset: number): number => lines.linePos(offset).line;
  const syntax = [...document.errors, ...document.warnings];
  if (syntax.length > 0)
    return { kind: "invalid", problems: syntax.map(({ pos: [at], message }) => `${path}:${lineAt(at)}: ${message}`) };
  const reading: Reading = { aliases: aliasesOf(document), problems: [], offsets: new Map(), nodesLeft: NODES_MAX };
  const json = readTop(reading, document.contents);
  if (json === undefined || reading.problems.length > 0) {
    const problems = reading.problems.toSorted((a, b) => a.offset - b.offset);
    return {
      kind: "invalid",
      problems: problems.map((problem) => `${path}:${lineAt(problem.offset)}: ${said(problem)}`),
    };
  }
  const { run_id: runId, ...config } = json;
  const lineOf = (field: string): number => lineAt(nearestOffset(reading.offsets, field) ?? startOf(document.contents));
  return {
    kind: "read",
    file: {
      path,
      runId: typeof runId === "string" ? runId : undefined,
      config: fromJson(RunConfigSchema, config),
      lineOf,
    },
  };
}

function said({ field, message }: Problem): string {
  return field === "" ? message : `${field}: ${message}`;
}

const fields = [CreateRunRequestSchema.field.runId, ...RunConfigSchema.fields];

function readTop(reading: Reading, contents: Node | null): JsonObject | undefined {
  if (contents === null || (isScalar(contents) && contents.value === null)) {
    reading.problems.push({ offset: 0, field: "", message: "there is nothing in it; a run file has arms, policy, …" });
    return undefined;
  }
  return readFields(reading, fields, contents, { offset: startOf(contents), field: "" });
}

function startOf(contents: unknown): number {
  if (!isNode(contents)) return 0;
  // Of fields the first; the range of all begins there too, but for a comment before it.
  const first = isMap(contents) ? contents.items[0]?.key : contents;
  return (isNode(first) ? first : contents).range?.[0] ?? 0;
}

/** The last step of a path: ".alpha", "[3]" or the key of a map, which may hold any of these characters. */
const LAST_STEP = /(?:\.?\w+|\[\d+\]|\["[^"]*"\])$/;

function nearestOffset(offsets: ReadonlyMap<string, number>, field: string): number | undefined {
  for (let path = field; path !== ""; path = path.replace(LAST_STEP, "")) {
    const offset = offsets.get(path);
    if (offset !== undefined) return offset;
    if (!LAST_STEP.test(path)) return undefined;
  }
  return undefined;
}

/** Of what is handed in by CreateRun, UpdatePolicy and UpdateShape. */
const OF_FILE = /^(?:config\.)?(\w+)((?:\.\w+|\[\d+\]|\["[^"]*"\])*): /;

/** What a configuration may be refused with; else it is the server that fails. */
const REFUSALS: readonly GradusCode[] = ["INVALID_ARGUMENT", "NOT_FOUND", "FAILED_PRECONDITION"];

/** What a server says of a file's configuration, each with the line that it speaks of; other errors as they are. */
export function inRunFile(file: RunFile, error: unknown): unknown {
  if (!(error instanceof GradusError) || !REFUSALS.includes(error.code)) return error;
  const others = error.cause instanceof AggregateError ? (error.cause.errors as readonly GradusError[]) : [];
  const places = [error, ...others].map(({ message }) => placeIn(file, message));
  if (places[0]?.line === undefined) return error;
  const sorted = places.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
  return new CliProblem("usage", sorted.map(({ text }) => text).join("\n"));
}

function placeIn({ path, lineOf }: RunFile, message: string): { readonly line?: number; readonly text: string } {
  const [whole = "", first = "", rest = ""] = OF_FILE.exec(message) ?? [];
  const top = first.replace(/^add_/, "");
  if (!fields.some(({ name }) => name === top)) return { text: `${path}: ${message}` };
  const line = lineOf(top + rest);
  return { line, text: `${path}:${line}: ${top + rest}: ${message.slice(whole.length)}` };
}
