/** The one table of the server's options. A row is a flag `--name` and a variable `GRADUS_NAME`; the flag wins. */
import { availableParallelism } from "node:os";
import { getHeapStatistics } from "node:v8";
import { DATA_DIR_WORDS } from "./data-dir.ts";
import { portOptions } from "../outside/port-kinds.ts";
import {
  bytes,
  choice,
  flag,
  hostName,
  integer,
  list,
  namedColumn,
  namedPath,
  optionalInteger,
  optionalText,
  optionTable,
  type OptionSpec,
  origin,
  storeAddress,
  text,
  type ValuesOf,
} from "./option-values.ts";

const KiB = 1024;
const MiB = 1024 ** 2;

/** Keyed by the name that commander gives to the flag. */
export const configOptions = optionTable({
  host: text({
    placeholder: "address",
    description: "address to listen on; off loopback a client CA or a token is needed, or --insecure",
    defaultValue: "127.0.0.1",
  }),
  port: integer({ description: "gRPC port; 0: any free one", range: [0, 65535], defaultValue: 50051 }),
  httpPort: integer({
    description: "port of the page, Connect, gRPC-Web, /metrics, /livez and /readyz; 0: any free one",
    range: [0, 65535],
    defaultValue: 8080,
  }),
  metricsPort: optionalInteger({
    description:
      "a port of its own for /metrics, /livez and /readyz, in plain HTTP and without a token, for a network that only its operators reach; 0: any free one; default: none, and /metrics on the HTTP port wants a viewer's token where tokens are asked for",
    range: [0, 65535],
  }),
  dataDir: optionalText({
    placeholder: "directory",
    description: `where keys, runs and evaluations are kept; default: ${DATA_DIR_WORDS}`,
  }),
  keyFile: optionalText({
    placeholder: "file",
    description: "keys that authenticate task ids, the same for all servers of a group; default: task-keys in data-dir",
  }),
  taskKeys: choice({
    description:
      "where the keys are that sign task ids: in the key file, or in the store, a PostgreSQL database, sealed by the key file's",
    choices: ["file", "store"],
    defaultValue: "file",
  }),
  store: storeAddress({
    description:
      "where runs and evaluations are kept: on disk, in memory and gone with the process, or in a PostgreSQL database that servers share, postgres://user@host/database (its password better in PGPASSWORD or a passfile)",
    defaultValue: "sqlite",
  }),
  storeDurability: choice({
    description:
      "of --store sqlite: what a committed event survives on disk: a killed process (normal), or a power failure too (full)",
    choices: ["normal", "full"],
    defaultValue: "normal",
  }),
  keepSamples: integer({
    description:
      "megabytes of completions, with what they came to, that each run keeps for people to look at, the newest ones; 0: none",
    range: [0, 65_536],
    defaultValue: 0,
  }),
  keepSamplesDays: integer({
    description: "how long completions of runs are kept at most, in days; they go with their run in any case",
    range: [1, 3652],
    defaultValue: 7,
  }),
  drainOthers: flag({
    description:
      "replace the servers of the same store that differ (in version, environments, pools or keys): they take no more calls once this one is there; without it this one is refused",
  }),
  tlsCert: optionalText({ placeholder: "file", description: "certificate chain in PEM, for both ports" }),
  tlsKey: optionalText({ placeholder: "file", description: "the certificate's private key in PEM" }),
  tlsClientCa: optionalText({
    placeholder: "file",
    description: "CA in PEM that clients' certificates must be signed by (mutual TLS)",
  }),
  token: optionalText({
    placeholder: "token",
    description: "bearer token that clients must send, and who has it may do all; better: --token-file",
    secret: true,
  }),
  tokenFile: optionalText({
    placeholder: "file",
    description: "file that holds one bearer token and nothing else, which is an operator's (several: --tokens-file)",
  }),
  tokensFile: optionalText({
    placeholder: "file",
    description:
      "YAML or JSON list of several tokens (one alone: --token-file), each with name, role (viewer, trainer, operator), token or sha256, and max_inflight_calls and max_calls_per_second if wanted; read again when it changes",
  }),
  insecure: flag({ description: "listen off loopback with neither a client CA nor a token" }),
  logLevel: choice({
    description: "least severe level that is logged; each call is one line at info",
    choices: ["trace", "debug", "info", "warn", "error", "fatal", "silent"],
    defaultValue: "info",
  }),
  logFormat: choice({
    description: "auto: pretty on a terminal, JSON elsewhere",
    choices: ["auto", "json", "pretty"],
    defaultValue: "auto",
  }),
  maxMessageBytes: bytes({
    description: "largest request message",
    range: [4 * KiB, 1024 * MiB],
    defaultValue: 64 * MiB,
  }),
  maxGroups: integer({ description: "groups in a message", range: [1, 65536], defaultValue: 1024 }),
  maxCompletions: integer({ description: "completions of a group", range: [1, 65536], defaultValue: 1024 }),
  maxCompletionBytes: bytes({
    description: "longest completion, in UTF-8",
    range: [1, 64 * MiB],
    defaultValue: 256 * KiB,
  }),
  maxBatchSeeds: integer({
    description: "tasks that one BatchReset may ask for",
    range: [1, 65536],
    defaultValue: 1024,
  }),
  maxConcurrentStreams: integer({
    description: "calls that one gRPC connection may have open; further ones wait in the client",
    range: [1, 65536],
    // Node takes 25 µs to accept each call, and twice that for each open call when its connection breaks.
    defaultValue: 128,
  }),
  maxInflightCalls: integer({
    description: "calls in progress on both ports; further ones get RESOURCE_EXHAUSTED with a retry delay",
    range: [1, 1_000_000],
    defaultValue: 8192,
  }),
  maxHeldBytes: bytes({
    description: "bytes of requests and answers that wait in open calls; beyond it those that hold most are ended",
    range: [4 * KiB, 1024 * 1024 * MiB],
    defaultValue: Math.max(64, Math.min(512, Math.floor(getHeapStatistics().heap_size_limit / 4 / MiB))) * MiB,
  }),
  maxQueue: integer({
    description:
      "tasks that wait for a worker, of which one caller may have a quarter; further ones are refused with a retry delay",
    range: [1, 1_000_000],
    defaultValue: 65_536,
  }),
  processes: integer({
    description:
      "server processes that share both ports and the store, which must not be memory; one that dies is started again",
    range: [1, 256],
    defaultValue: 1,
  }),
  workers: integer({
    description:
      "worker threads that make and solve tasks; of several, one is kept for tasks that take few milliseconds",
    range: [1, 256],
    defaultValue: Math.max(2, availableParallelism()),
  }),
  workerTimeLimitMs: integer({
    description:
      "longest that making one task may take, from when a worker begins it, in milliseconds; searches end by their budgets long before",
    range: [10, 3_600_000],
    defaultValue: 60_000,
  }),
  drainTimeoutMs: integer({
    description: "longest that a shutdown waits for calls in progress, in milliseconds",
    range: [0, 3_600_000],
    defaultValue: 30_000,
  }),
  requestTimeoutMs: integer({
    description:
      "longest that a request may take to come whole, in milliseconds; a stream may idle between its requests",
    range: [100, 3_600_000],
    defaultValue: 120_000,
  }),
  environmentFile: list({
    placeholder: "file",
    description:
      "a module of environments of one's own, whose default export is a list of them; it runs with the server's rights; may be given several times",
    each: (path) => ({ kind: "value", value: path }),
  }),
  policies: list({
    placeholder: "file",
    description:
      "a module of policies of one's own, whose default export is a list of their definitions, for runs that name them; it runs with the server's rights, and `gradus policies check` tries it; may be given several times",
    each: (path) => ({ kind: "value", value: path }),
  }),
  pool: list({
    placeholder: "name=path",
    description:
      "a data pool for SOURCE_REAL: JSONL, JSON, CSV, TSV, Parquet, Arrow or a folder of save_to_disk; name=qa:path says that they are rows of qa; name=path@train[200:],eval[:200] says which rows are taken and of which split they are; may be given several times",
    each: namedPath,
  }),
  column: list({
    placeholder: "name=column",
    description:
      "for the files of --pool: the column that holds what their environment knows by another name, e.g. answer=final_answer or p:answer=meta.gold for the pool p alone; may be given several times",
    each: namedColumn,
    about: ({ pool = "", name }) => `${pool}:${name}`,
  }),
  ...portOptions,
  suiteFile: list({
    placeholder: "file",
    description: "a suite of tasks in JSON, for evaluations; may be given several times",
    each: (path) => ({ kind: "value", value: path }),
  }),
  corsOrigin: list({
    placeholder: "origin",
    description: "origin of web pages that may call the HTTP port, or *; may be given several times",
    each: origin,
  }),
  allowedHost: list({
    placeholder: "name",
    description:
      "name or address that callers may use for a server that asks for no credentials, beside loopback ones, or * for any; may be given several times",
    each: hostName,
  }),
});

export type OptionName = keyof typeof configOptions;
export type OptionValues = ValuesOf<typeof configOptions>;

/** Sections of the help text; an option belongs to the first section whose pattern matches its flag. */
const GROUPS: readonly (readonly [title: string, flags: RegExp])[] = [
  ["Who may call", /^(tls|token|role|insecure|cors|allowed-host|audit)/],
  ["What is kept", /^(data-dir|key-file|store|keep)/],
  ["Tasks and suites", /^(environment|pool|column|suite)/],
  ["Environments in Python, and from elsewhere", /^(python|mount|allow$)/],
  ["Programs of models (sandbox)", /^sandbox/],
  ["Judge", /^judge/],
  ["Teacher", /^teacher/],
  ["Work and its limits", /^(max|worker|process|limit)/],
  ["Log and traces", /^(log|otel|trace)/],
  ["Where and how it listens", /^/],
];

export function groupOf({ flag: name }: Pick<OptionSpec<unknown>, "flag">): string {
  return GROUPS.find(([, flags]) => flags.test(name))?.[0] ?? "Options";
}

/** Returns the variable of an option, for example "GRADUS_MAX_GROUPS" for "max-groups". */
export function variableOf(spec: Pick<OptionSpec<unknown>, "flag">): string {
  return `GRADUS_${spec.flag.toUpperCase().replaceAll("-", "_")}`;
}
