/** Errors that end a command: a message for the user, and an exit code. */
import { GradusError } from "../clients/ts/src/errors.ts";
import type { ConnectionMistake, GradusCode } from "../clients/ts/src/public.ts";
import { assertNever } from "../envs/lib/assert-never.ts";

/**
 * Kind of a problem. `failure`: the command could not be done. `usage`: the arguments are wrong. `missing`: a named
 * thing, such as a run or a file, does not exist. `unreachable`: no server answers in the requested way.
 */
export type ProblemKind = "failure" | "usage" | "missing" | "unreachable";

const exitCodes = { failure: 1, usage: 2, missing: 3, unreachable: 4 } as const satisfies Record<ProblemKind, number>;

export const EXIT_CODES_HELP = `
Exit codes: 0 done, 1 failed, 2 wrong use, 3 something named does not exist (a run, a suite, an environment, a file), 4 no
server was reached.`;

export class CliProblem extends Error {
  readonly kind: ProblemKind;

  constructor(kind: ProblemKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

export function exitCode(kind: ProblemKind): number {
  return exitCodes[kind];
}

const systemWords: Readonly<Record<string, string>> = {
  ENOENT: "it does not exist",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of its path is not a folder",
  EACCES: "permission denied",
  EROFS: "its disk is read-only",
  ENOSPC: "its disk is full",
};

/**
 * Returns why the system refused a path, in words and with the system's error code. Messages append this text to the
 * path.
 */
export function pathTrouble(error: unknown): string {
  const { code = "an unknown error" } = error as NodeJS.ErrnoException;
  const words = systemWords[code];
  return words === undefined ? ` (${code})` : `: ${words} (${code})`;
}

/**
 * Returns the problem of a file that a command reads. Its kind is "missing" for ENOENT, else `otherwise`. The default
 * is "failure" for a device or a system error, and "usage" for wrong content.
 */
export function fileProblem(message: string, otherwise?: ProblemKind): CliProblem {
  const ofSystem = /\bE(?:ACCES|EXIST|IO|ISDIR|LOOP|MFILE|NOSPC|NOTDIR|PERM|ROFS)\b|not a regular file/.test(message);
  const kind = otherwise ?? (ofSystem ? "failure" : "usage");
  return new CliProblem(/\bENOENT\b/.test(message) ? "missing" : kind, message);
}

/** Command-line option that sets a field of a request, by the field's name in the contract. */
const optionOf: Readonly<Record<string, string>> = {
  level: "--level",
  parameters: "--param",
  split: "--split",
  source: "--source",
  pool: "--pool-name",
  answer_format: "--answer-format",
  thinking: "--thinking",
  reward_scheme: "--scheme",
  "reward_scheme.parameters": "--scheme-param",
  seed: "--seed",
  seeds: "--count",
  group_id: "--group-id",
  suite: "--suite",
  state: "<file>",
};

/** Returns a server's error message with the names of options in place of the contract's field names. */
function inOurWords(message: string): string {
  const words = message.replaceAll(/\b(?:SPLIT|SOURCE|ANSWER_FORMAT|THINKING)_([A-Z_]+)\b/g, (_, name: string) =>
    name.toLowerCase(),
  );
  const [, field = "", within = ""] = /^(?:spec\.|groups\[0\]\.)?(\w+)([\w.[\]]*): /.exec(words) ?? [];
  const rest = words.slice(words.indexOf(": ") + 2);
  if (/^unknown environment '[^']*'$/.test(rest)) return `${rest}; gradus envs lists what there is`;
  if (field === "environment" || field === "id" || field === "spec") return rest;
  const option = optionOf[field + within] ?? optionOf[field];
  return option === undefined ? words : `${option}: ${rest}`;
}

const kinds: Readonly<Partial<Record<GradusCode, ProblemKind>>> = {
  INVALID_ARGUMENT: "usage",
  OUT_OF_RANGE: "usage",
  NOT_FOUND: "missing",
};

/** Describes a mistake in the flags that name the server. */
function mistakeIn({ message }: GradusError, mistake: ConnectionMistake, server: string): string {
  switch (mistake) {
    case "http_port":
      return `${server} is the HTTP port of a Gradus server: --server wants its gRPC port, 50051 by default`;
    case "needs_tls":
      return `${server} speaks TLS: give --tls, or --tls-ca with the certificates that vouch for it`;
    case "no_tls":
      return `${server} speaks no TLS: leave out --tls, --tls-ca, --tls-cert and --tls-key`;
    case "certificate":
      return message.replaceAll(/\btls\.(ca|cert|key)\b/g, "--tls-$1");
    case "not_gradus":
    case "grpc_port":
      return message;
    default:
      return assertNever(mistake);
  }
}

/** Matches error messages of the system and of gRPC that mean that a connection broke during a call. */
const BROKEN = /^(?:read |write )?E[A-Z]{4,}\b|^Connection dropped/;

/**
 * Converts an error of a call into a problem for the user. `server` is the server's address, undefined for a call in
 * this process.
 */
export function problemOf(error: unknown, server: string | undefined): unknown {
  if (!(error instanceof GradusError)) return error;
  if (server !== undefined && error.mistake !== undefined)
    return new CliProblem("unreachable", mistakeIn(error, error.mistake, server));
  if (server !== undefined && error.code === "UNAVAILABLE" && error.message.startsWith("no server answers")) {
    return new CliProblem("unreachable", `no server at ${server}: start one with \`gradus serve\``);
  }
  if (error.code === "UNAUTHENTICATED") return new CliProblem("failure", `${error.message} (give --token-file)`);
  const lost = server !== undefined && error.code === "UNAVAILABLE";
  if (lost && BROKEN.test(error.message))
    return new CliProblem(
      "unreachable",
      `the server at ${server} closed the connection or became unreachable (${error.message})`,
    );
  const kind = lost ? "unreachable" : (kinds[error.code] ?? "failure");
  return new CliProblem(kind, inOurWords(error.message));
}

/** Returns message and kind of problem for anything thrown. The message calls a bug an internal error. */
export function describe(thrown: unknown): { readonly message: string; readonly kind: ProblemKind } {
  const error = problemOf(thrown, undefined);
  if (error instanceof CliProblem) return error;
  const message = error instanceof Error ? error.message : String(error);
  // Print a system error about a file or a port as it is, because it tells the user what to do.
  const ofSystem = error instanceof Error && "syscall" in error;
  return { message: ofSystem ? message : `internal error: ${message}`, kind: "failure" };
}
