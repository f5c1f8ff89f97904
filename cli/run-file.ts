/** Reads run files for commands. */
import { fromJson } from "@bufbuild/protobuf";
import type { Command } from "commander";
import { existsSync } from "node:fs";
import {
  CreateRunRequestSchema,
  type GradusCode,
  GradusError,
  type RunConfig,
  RunConfigSchema,
  Source,
} from "../clients/ts/src/public.ts";
import { didYouMean } from "../envs/lib/text.ts";
import { fieldIn, type LineProblem, lineIn, readRunText } from "../server/run-files/read-run-file.ts";
import { collect } from "./connection.ts";
import { readFileOf } from "./files.ts";
import { CliProblem } from "./problem.ts";

/** A run file that was read. */
export interface RunFile {
  /** Path as the user gave it. */
  readonly path: string;
  /** Id of the run. Undefined if the file has none, so that a flag must give one. */
  readonly runId: string | undefined;
  readonly config: RunConfig;
  /** Returns the line number of a field such as "policy.bandit.epsilon", or of its nearest parent in the file. */
  readonly lineOf: (field: string) => number;
  /** Values of --pool that apply to no arm of the file. Some commands use them as pools that this process loads. */
  readonly pools: readonly string[];
}

/** Values of the options that change a run file before it is used. */
export interface ChangeFlags {
  readonly set?: readonly string[];
  readonly pool?: readonly string[];
}

/**
 * Adds options of commands that read a run file. `pool` says whether to add --pool. It is false for commands in which
 * --pool has another meaning or none.
 */
export function addChangeOptions(command: Command, { pool }: { readonly pool: boolean }): Command {
  command.option(
    "--set <path=value>",
    "set a field of the file, e.g. length=3200, policy.bandit.epsilon=0.2, arms.real/T0.weight=2, arms.0.weight=2; may be given several times",
    collect,
  );
  const words =
    "the pool that arms of an environment draw their rows from, e.g. countdown=tasks; may be given several times";
  return pool ? command.option("--pool <environment=name>", words, collect) : command;
}

export type RunFileResult =
  | { readonly kind: "read"; readonly file: RunFile }
  /** Problems such as "run.yaml:12: policy.bandit.epsilon: …", in the order of the file. */
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

const fields = [CreateRunRequestSchema.field.runId, ...RunConfigSchema.fields];

/**
 * Reads the run file that an option names, and applies the changes that other options make. Throws its problems as a
 * usage error.
 */
export function readRunFile(option: string, path: string, flags: ChangeFlags = {}): RunFile {
  const result = parseRunFile(path, readFileOf(option, path), flags);
  if (result.kind === "read") return result.file;
  throw new CliProblem("usage", result.problems.join("\n"));
}

/** Parses a run file's text, and applies the changes that options make. `path` is the name of the file in messages. */
export function parseRunFile(path: string, text: string, { set, pool = [] }: ChangeFlags = {}): RunFileResult {
  const result = readRunText(text, fields, set);
  if (result.kind === "invalid")
    return { kind: "invalid", problems: result.problems.map((problem) => lineOfProblem(path, problem)) };
  const { runId, config } = result.text;
  const lineOf = (field: string): number => lineIn(result.text, field);
  const read = fromJson(RunConfigSchema, config);
  const pools = pool.filter((given) => !isPoolSet(read, given));
  return { kind: "read", file: { path, runId, config: read, lineOf, pools } };
}

/**
 * Returns the task specs of an environment's arms whose rows come from a pool. These are the specs with source REAL or,
 * if there are none, the specs without a source.
 */
function rowSpecs({ arms, evaluationArms }: RunConfig, environment: string) {
  const specs = [...arms, ...evaluationArms].flatMap(({ spec }) => (spec?.environment === environment ? [spec] : []));
  const real = specs.filter(({ source }) => source === Source.REAL);
  return real.length > 0 ? real : specs.filter(({ source }) => source === Source.UNSPECIFIED);
}

/**
 * Parses a value "environment=name" of --pool, and lets the environment's arms draw rows of this pool. Does nothing if
 * the file has no such arms, or if the name is a path of a file. Returns whether arms were changed.
 */
function isPoolSet(config: RunConfig, given: string): boolean {
  const [environment = "", name = ""] = given.split("=");
  const specs = given.includes("=") && !existsSync(name) ? rowSpecs(config, environment) : [];
  for (const spec of specs) Object.assign(spec, { source: Source.REAL, pool: name });
  return specs.length > 0;
}

/** Refuses values of --pool that apply to no arm of the file. */
export function checkPools({ path, config, pools: [unknown] }: RunFile): void {
  if (unknown === undefined) return;
  const ids = [...new Set(config.arms.map(({ spec }) => spec?.environment ?? ""))];
  const [id = ""] = unknown.split("=");
  const near = didYouMean(id, ids) || `; it has: ${ids.join(", ")}`;
  throw new CliProblem(
    "usage",
    `--pool must be environment=name, but ${path} has no arm of '${id}' that draws rows${near}`,
  );
}

/** Formats a problem as "run.yaml:12: policy.bandit.epsilon: …". Line 0 means that the line is unknown. */
export function lineOfProblem(path: string, { line, field, message }: LineProblem): string {
  return [line === 0 ? path : `${path}:${line}`, ...(field === "" ? [] : [field]), message].join(": ");
}

/** Codes with which a server refuses a configuration. Other codes are failures of the server. */
const REFUSALS: readonly GradusCode[] = ["INVALID_ARGUMENT", "NOT_FOUND", "FAILED_PRECONDITION"];

/**
 * Converts a server's refusal of a configuration into problems with the lines of the file. Returns other errors
 * unchanged.
 */
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
