/** Run files, as commands take them. */
import { fromJson } from "@bufbuild/protobuf";
import {
  CreateRunRequestSchema,
  type GradusCode,
  GradusError,
  type RunConfig,
  RunConfigSchema,
} from "../clients/ts/src/public.ts";
import { fieldIn, type LineProblem, lineIn, readRunText } from "../server/run-files/read.ts";
import { readFileOf } from "./files.ts";
import { CliProblem } from "./problem.ts";

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

const fields = [CreateRunRequestSchema.field.runId, ...RunConfigSchema.fields];

/** Reads the file that an option names; its problems come out as one that ends the command. */
export function readRunFile(option: string, path: string): RunFile {
  const result = parseRunFile(path, readFileOf(option, path));
  if (result.kind === "read") return result.file;
  throw new CliProblem("usage", result.problems.join("\n"));
}

/** Reads a run file's text; `path` is for messages. */
export function parseRunFile(path: string, text: string): RunFileResult {
  const result = readRunText(text, fields);
  if (result.kind === "invalid")
    return { kind: "invalid", problems: result.problems.map((problem) => lineOfProblem(path, problem)) };
  const { runId, config } = result.text;
  const lineOf = (field: string): number => lineIn(result.text, field);
  return { kind: "read", file: { path, runId, config: fromJson(RunConfigSchema, config), lineOf } };
}

/** "run.yaml:12: policy.bandit.epsilon: …"; line 0: it is not known. */
export function lineOfProblem(path: string, { line, field, message }: LineProblem): string {
  return [line === 0 ? path : `${path}:${line}`, ...(field === "" ? [] : [field]), message].join(": ");
}

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
  const found = fieldIn(message, fields);
  if (found === undefined) return { text: `${path}: ${message}` };
  const line = lineOf(found.field);
  return { line, text: lineOfProblem(path, { line, field: found.field, message: found.rest }) };
}
