/**
 * Table of all options of the server. A row is both a flag `--name` and an environment variable `GRADUS_NAME`. The flag
 * wins.
 */
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

/** The options, by the names that commander gives their flags, e.g. maxGroups for --max-groups. */
export const configOptions = optionTable({
  host: text({
    placeholder: "address",
    description: "address to listen on; an address other than loopback needs a client CA, a token or --insecure",
    defaultValue: "127.0.0.1",
  }),
  port: integer({ description: "gRPC port; 0: any free port", range: [0, 65535], defaultValue: 50051 }),
  httpPort: integer({
    description: "port of the page, Connect, gRPC-Web, /metrics, /livez and /readyz; 0: any free port",
    range: [0, 65535],
    defaultValue: 8080,
  }),
  metricsPort: optionalInteger({
    description:
      "extra port for /metrics, /livez and /readyz, in plain HTTP and without a token, for a network that only operators reach; 0: any free port; default: none, and if tokens are required, /metrics on the HTTP port requires a viewer's",
    range: [0, 65535],
  }),
  dataDir: optionalText({
    placeholder: "directory",
    description: `where keys, runs and evaluations are kept; default: ${DATA_DIR_WORDS}`,
  }),
  keyFile: optionalText({
    placeholder: "file",
    description:
      "keys that authenticate task ids, the same for all servers that answer each other's tasks; default: task-keys in data-dir",
  }),
  taskKeys: choice({
    description:
      "place of the keys that sign task ids: the key file, or the store (a PostgreSQL database), sealed by a key of the key file",
    choices: ["file", "store"],
    defaultValue: "file",
  }),
  store: storeAddress({
    description:
      "store of runs and evaluations: sqlite on disk, memory until the process ends, or a PostgreSQL database that servers share, postgres://user@host/database (put its password into PGPASSWORD or a passfile)",
    defaultValue: "sqlite",
  }),
  storeDurability: choice({
    description:
      "for --store sqlite: committed events survive a killed process (normal), or also a power failure (full)",
    choices: ["normal", "full"],
    defaultValue: "normal",
  }),
  keepSamples: integer({
    description:
      "size of the newest completions and their outcomes that each run keeps for people to read, in megabytes; 0: none are kept",
    range: [0, 65_536],
    defaultValue: 0,
  }),
  keepSamplesDays: integer({
    description: "maximum time for which completions of runs are kept, in days; a deleted run's are deleted with it",
    range: [1, 3652],
    defaultValue: 7,
  }),
  drainOthers: flag({
    description:
      "replace servers of the same store with another version, environments, pools or keys: they accept no more calls once this server has started; without this flag, this server is refused",
  }),
  tlsCert: optionalText({ placeholder: "file", description: "certificate chain in PEM, for both ports" }),
  tlsKey: optionalText({ placeholder: "file", description: "the certificate's private key in PEM" }),
  tlsClientCa: optionalText({
    placeholder: "file",
    description: "CA in PEM that clients' certificates must be signed by (mutual TLS)",
  }),
  token: optionalText({
    placeholder: "token",
    description: "bearer token that clients must send, with the rights of an operator; --token-file is safer",
    secret: true,
  }),
  tokenFile: optionalText({
    placeholder: "file",
    description:
      "file that holds one bearer token and nothing else, with the rights of an operator (several tokens: --tokens-file)",
  }),
  tokensFile: optionalText({
    placeholder: "file",
    description:
      "YAML or JSON list of tokens (for a single one: --token-file), each with name, role (viewer, trainer, operator), token or sha256, and optionally max_inflight_calls and max_calls_per_second; read again after each change",
  }),
  insecure: flag({ description: "allow an address other than loopback without a client CA or a token" }),
  logLevel: choice({
    description: "minimum severity of log lines; each call is one line at info",
    choices: ["trace", "debug", "info", "warn", "error", "fatal", "silent"],
    defaultValue: "info",
  }),
  logFormat: choice({
    description: "format of log lines; auto: pretty on a terminal, otherwise JSON",
    choices: ["auto", "json", "pretty"],
    defaultValue: "auto",
  }),
  maxMessageBytes: bytes({
    description: "maximum size of a request message, in bytes",
    range: [4 * KiB, 1024 * MiB],
    defaultValue: 64 * MiB,
  }),
  maxGroups: integer({ description: "maximum number of groups in a message", range: [1, 65536], defaultValue: 1024 }),
  maxCompletions: integer({
    description: "maximum number of completions in a group",
    range: [1, 65536],
    defaultValue: 1024,
  }),
  maxCompletionBytes: bytes({
    description: "maximum size of a completion, in bytes of UTF-8",
    range: [1, 64 * MiB],
    defaultValue: 256 * KiB,
  }),
  maxBatchSeeds: integer({
    description: "maximum number of tasks in a BatchReset",
    range: [1, 65536],
    defaultValue: 1024,
  }),
  maxConcurrentStreams: integer({
    description: "maximum number of open calls on one gRPC connection; further calls wait in the client",
    range: [1, 65536],
    // The limit is low, because Node takes 25 µs to accept a call. When a connection breaks, it takes twice that for
    // each open call.
    defaultValue: 128,
  }),
  maxInflightCalls: integer({
    description:
      "maximum number of calls in progress on both ports; further calls get RESOURCE_EXHAUSTED with a retry delay",
    range: [1, 1_000_000],
    defaultValue: 8192,
  }),
  maxHeldBytes: bytes({
    description:
      "maximum size of requests and responses that wait in open calls, in bytes; above it the server ends the calls that hold most",
    range: [4 * KiB, 1024 * 1024 * MiB],
    defaultValue: Math.max(64, Math.min(512, Math.floor(getHeapStatistics().heap_size_limit / 4 / MiB))) * MiB,
  }),
  maxQueue: integer({
    description:
      "maximum number of tasks that wait for a worker, a quarter of it for one caller; further tasks are refused with a retry delay",
    range: [1, 1_000_000],
    defaultValue: 65_536,
  }),
  processes: integer({
    description:
      "number of server processes that share both ports and the store, which must not be memory; a process that dies is restarted",
    range: [1, 256],
    defaultValue: 1,
  }),
  workers: integer({
    description:
      "number of worker threads that make and solve tasks; if there are several, one is reserved for tasks that take few milliseconds",
    range: [1, 256],
    defaultValue: Math.max(2, availableParallelism()),
  }),
  workersCold: flag({
    description:
      "worker threads take work before they have made a task of each level: a start takes a third less CPU, and first tasks take longer; for servers that live for seconds, such as those of tests",
  }),
  workerTimeLimitMs: integer({
    description:
      "maximum time for making one task after a worker begins it, in milliseconds; budgets end searches long before",
    range: [10, 3_600_000],
    defaultValue: 60_000,
  }),
  drainTimeoutMs: integer({
    description: "maximum time for which a shutdown waits for calls in progress, in milliseconds",
    range: [0, 3_600_000],
    defaultValue: 30_000,
  }),
  requestTimeoutMs: integer({
    description: "maximum time for receiving a whole request, in milliseconds; a stream may idle between its requests",
    range: [100, 3_600_000],
    defaultValue: 120_000,
  }),
  environmentFile: list({
    placeholder: "file",
    description:
      "module with custom environments, whose default export is a list of them; it runs with the server's rights; may be given several times",
    each: (path) => ({ kind: "value", value: path }),
  }),
  policies: list({
    placeholder: "file",
    description:
      "module with custom policies, whose default export is a list of their definitions, for runs that name them; it runs with the server's rights; `gradus policies check` checks it; may be given several times",
    each: (path) => ({ kind: "value", value: path }),
  }),
  pool: list({
    placeholder: "name=path",
    description:
      "a data pool for SOURCE_REAL: JSONL, JSON, CSV, TSV, Parquet, Arrow or a folder of save_to_disk; name=qa:path names the environment of the rows; name=path@train[200:],eval[:200] selects rows and sets their split; may be given several times",
    each: namedPath,
  }),
  column: list({
    placeholder: "name=column",
    description:
      "renames a column of the files of --pool: answer=final_answer reads the column final_answer as answer, and p:answer=meta.gold does so only in the pool p; may be given several times",
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
      "host name or address, beside loopback ones, by which callers may address a server without credentials, or * for any; may be given several times",
    each: hostName,
  }),
});

export type OptionName = keyof typeof configOptions;
export type OptionValues = ValuesOf<typeof configOptions>;

/** Sections of the help text, each with a pattern. An option is in the first section whose pattern matches its flag. */
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

/** Returns the environment variable of an option, for example "GRADUS_MAX_GROUPS" for the flag "max-groups". */
export function variableOf(spec: Pick<OptionSpec<unknown>, "flag">): string {
  return `GRADUS_${spec.flag.toUpperCase().replaceAll("-", "_")}`;
}
