/** Reads the server's configuration from flags and environment variables into one frozen value. */
import { type Command, Option } from "commander";
import { statSync } from "node:fs";
import { BlockList, isIP } from "node:net";
import { resolve } from "node:path";
import { defaultDataDir } from "./data-dir.ts";
import { readOptionFile } from "./files.ts";
import { describePorts, readPorts } from "../outside/port-kinds.ts";
import { configOptions, groupOf, type OptionName, type OptionValues, variableOf } from "./options.ts";
import { withoutPassword } from "./secrets.ts";
import { readTls, type TlsConfig, tlsWarnings } from "./tls-config.ts";
import { isToken, TOKEN_WORDS } from "./token.ts";
import { ConfigProblem, type OptionSpec } from "./option-values.ts";
import { asTexts, unknownVariables, valueOf, type Variables, withoutToken } from "./read-options.ts";

/** Limits on what a client may send or keep in memory. See configOptions for units and defaults. */
export type Limits = Pick<
  OptionValues,
  | "maxMessageBytes"
  | "maxGroups"
  | "maxCompletions"
  | "maxCompletionBytes"
  | "maxBatchSeeds"
  | "maxConcurrentStreams"
  | "maxInflightCalls"
  | "maxHeldBytes"
  | "maxQueue"
>;

export type Config = ReturnType<typeof assemble>;

export type ConfigResult =
  { readonly kind: "ok"; readonly config: Config } | { readonly kind: "invalid"; readonly message: string };

const entries = Object.entries(configOptions) as readonly (readonly [OptionName, OptionSpec<unknown>])[];

/** Adds every option of the server to a command. The option values stay texts; readConfig parses and checks them. */
export function addServeOptions(command: Command): Command {
  for (const [name] of entries) command.addOption(serverOption(name));
  return command;
}

/** Returns one of the server's options, so that another command can accept it with the same name and help. */
export function serverOption(name: OptionName): Option {
  const spec: OptionSpec<unknown> = configOptions[name];
  const argument = spec.placeholder === "" ? "" : ` <${spec.placeholder}>`;
  const option = new Option(`--${spec.flag}${argument}`, helpText(spec)).helpGroup(`${groupOf(spec)}:`);
  if (spec.repeatable) option.argParser((text: string, before: unknown) => [...asTexts(before), text]);
  // Shells complete these values. readConfig reports a wrong value, which may also come from an environment variable.
  if (spec.choices !== undefined) option.argChoices = [...spec.choices];
  return option;
}

/**
 * Reads the configuration from commander's options and environment variables; an option wins over its variable. Also
 * reads the files for TLS and the token. An error message names the flag, the limit and the given value.
 */
export function readConfig(flags: Readonly<Record<string, unknown>>, env: Variables): ConfigResult {
  try {
    const given = withoutToken(flags, env);
    const values = Object.fromEntries(entries.map(([name, spec]) => [name, valueOf(spec, flags[name], given)]));
    return { kind: "ok", config: assemble(values as OptionValues, env) };
  } catch (error) {
    if (error instanceof ConfigProblem) return { kind: "invalid", message: error.message };
    throw error;
  }
}

/** Returns the configuration for the log, without secrets. */
export function describeConfig(config: Config): Readonly<Record<string, unknown>> {
  const { tls, token, warnings: _, ...open } = config;
  const clients = tls?.clientCa === undefined ? "on" : "on, clients must show a certificate";
  const hidden = (secret: string | undefined): string => (secret === undefined ? "none" : "[redacted]");
  return {
    ...open,
    store: withoutPassword(open.store),
    ...describePorts(config),
    tls: tls === undefined ? "off" : clients,
    token: hidden(token),
  };
}

function helpText(spec: OptionSpec<unknown>): string {
  const byDefault = spec.defaultValue;
  const shown = typeof byDefault === "string" || typeof byDefault === "number" ? `default ${byDefault}, ` : "";
  const several = spec.repeatable ? ", several with commas between them, or a line each" : "";
  return `${spec.description} (${shown}env ${variableOf(spec)}${several})`;
}

function assemble(values: OptionValues, env: Variables) {
  const tls = readTls(values);
  const token = readToken(values);
  refuseOpenDoor(values, tls, token);
  const dataDir = values.dataDir ?? defaultDataDir(env);
  checkPorts(values);
  checkStore(values);
  return Object.freeze({
    host: values.host,
    /** Port for gRPC. 0: any free port. */
    port: values.port,
    /** Port for Connect, gRPC-Web, /metrics and health checks. 0: any free port. */
    httpPort: values.httpPort,
    /** Additional port with only /metrics and health checks. Undefined: there is none. */
    metricsPort: values.metricsPort,
    tls,
    /**
     * Token with the role operator. If this or `tokensFile` is set, every call except health checks must send a token.
     */
    token,
    /** File with further tokens, each with its role. */
    tokensFile: values.tokensFile,
    insecure: values.insecure,
    corsOrigins: values.corsOrigin,
    /**
     * Host names, in addition to the loopback ones, under which clients may call the server if it requires no
     * credentials. "*": any.
     */
    allowedHosts: values.allowedHost,
    /** Number of server processes. All of them serve the same ports. */
    processes: values.processes,
    workers: values.workers,
    /** Whether worker threads skip the warm-up, in which they make some tasks so that their code is compiled. */
    workersCold: values.workersCold,
    workerTimeLimitMs: values.workerTimeLimitMs,
    drainTimeoutMs: values.drainTimeoutMs,
    requestTimeoutMs: values.requestTimeoutMs,
    /** Files with the operator's own environments, in addition to those of Gradus. */
    environmentFiles: values.environmentFile,
    /** Files with the operator's own policies, in addition to those of Gradus. */
    policyFiles: values.policies,
    pools: values.pool,
    columns: values.column,
    /** Files of suites, in addition to those that ship with the server. */
    suiteFiles: values.suiteFile,
    ...readPorts(values, [resolve(dataDir), ...namedFiles(values, env)]),
    dataDir,
    /** File with the keys for task ids. Undefined: the file in the data directory. */
    keyFile: values.keyFile,
    taskKeys: values.taskKeys,
    /** Store of runs and evaluations: "sqlite", "memory", or the address of a PostgreSQL database. */
    store: values.store,
    storeDurability: values.storeDurability,
    /**
     * Limits of the stored completions of each run: maximum bytes in UTF-8 (0: none are stored), and maximum age in
     * milliseconds.
     */
    keepSamples: keptOf(values),
    /** Whether this server replaces running servers of the same store that differ from it. */
    drainOthers: values.drainOthers,
    logLevel: values.logLevel,
    logFormat: values.logFormat,
    limits: limitsOf(values),
    /** Faults that the operator should fix although the server can start. */
    warnings: [...unknownVariables(env), ...warningsOf(values), ...tlsWarnings(values, tls, new Date())],
  });
}

/** Parameters of a PostgreSQL address that name files. */
const FILES_OF_DATABASE = ["sslkey", "sslcert", "sslrootcert", "sslcrl", "passfile"];
/** Matches the placeholders, in the help text, of options whose value is a file or a folder of the server. */
const NAMES_FILES = /^(?:file|directory|name=file|name=path)$/;

/**
 * Returns the absolute paths of all files and folders that options name, and of files that the database's address or
 * PGPASSFILE names.
 */
function namedFiles(values: OptionValues, env: Variables): readonly string[] {
  const named = entries.flatMap(([name, { placeholder }]): readonly unknown[] =>
    NAMES_FILES.test(placeholder) ? [values[name]].flat() : [],
  );
  const ofStore = URL.canParse(values.store) ? new URL(values.store).searchParams : new URLSearchParams();
  const database = FILES_OF_DATABASE.map((name) => ofStore.get(name));
  const paths = named.map((each) => (typeof each === "object" && each !== null && "path" in each ? each.path : each));
  return [...paths, ...database, env["PGPASSFILE"]].flatMap((path) =>
    typeof path === "string" ? [resolve(path)] : [],
  );
}

function checkStore({ store, processes, taskKeys }: OptionValues): void {
  if (processes > 1 && store === "memory")
    throw new ConfigProblem("--processes must be 1 with --store memory, for each process would have runs of its own");
  if (taskKeys === "store" && (store === "memory" || store === "sqlite"))
    throw new ConfigProblem(`--task-keys must be file with --store ${store}: only a database keeps keys`);
}

const MIB = 1024 ** 2;
const DAY_MS = 86_400_000;

function keptOf({ keepSamples, keepSamplesDays }: OptionValues) {
  return Object.freeze({ bytesMax: keepSamples * MIB, keptMs: keepSamplesDays * DAY_MS });
}

function checkPorts({ port, httpPort, metricsPort }: OptionValues): void {
  const given = { port, "http-port": httpPort, "metrics-port": metricsPort };
  const fixed = Object.entries(given).filter(([, number]) => number !== undefined && number !== 0);
  for (const [i, [flag, number]] of fixed.entries()) {
    const [other] = fixed.slice(0, i).find(([, before]) => before === number) ?? [];
    if (other !== undefined) throw new ConfigProblem(`--${other} and --${flag} must differ; both are ${number}`);
  }
}

function limitsOf(values: OptionValues): Limits {
  const { maxMessageBytes, maxGroups, maxCompletions, maxCompletionBytes, maxBatchSeeds } = values;
  const { maxConcurrentStreams, maxInflightCalls, maxHeldBytes, maxQueue } = values;
  if (maxCompletionBytes > maxMessageBytes) {
    throw new ConfigProblem(
      `--max-completion-bytes must be at most --max-message-bytes, ${maxMessageBytes}; got ${maxCompletionBytes}`,
    );
  }
  if (maxHeldBytes < maxMessageBytes) {
    throw new ConfigProblem(
      `--max-held-bytes must be at least --max-message-bytes, ${maxMessageBytes}; got ${maxHeldBytes}`,
    );
  }
  const perMessage = { maxMessageBytes, maxGroups, maxCompletions, maxCompletionBytes, maxBatchSeeds };
  return Object.freeze({ ...perMessage, maxConcurrentStreams, maxInflightCalls, maxHeldBytes, maxQueue });
}

function readToken({ token, tokenFile }: OptionValues): string | undefined {
  if (token !== undefined && tokenFile !== undefined) {
    throw new ConfigProblem(
      "--token and --token-file must not be given together; the variables GRADUS_TOKEN and GRADUS_TOKEN_FILE count too",
    );
  }
  // The text is trimmed, because a file ends in a line break, and so may a variable that a shell filled from a file.
  const value = (tokenFile === undefined ? token : readOptionFile("token-file", tokenFile))?.trim();
  if (value !== undefined && !isToken(value)) {
    const flag = tokenFile === undefined ? "--token" : "--token-file";
    const came = /^[\x21-\x7e]*$/.test(value) ? `${value.length} characters` : "characters that are not allowed";
    const list = /\brole\b/.test(value) ? "; a list of tokens with roles belongs in --tokens-file" : "";
    throw new ConfigProblem(`${flag} must hold ${TOKEN_WORDS}; got ${came}${list}`);
  }
  return value;
}

/** Bits of a file's mode that let its group or everybody read it. */
const othersMayRead = 0o044;

const OF_SQLITE = "--store-durability is for --store sqlite: a database has its own synchronous_commit";

function warningsOf(values: OptionValues): readonly string[] {
  const { tlsKey, tokenFile, tokensFile, store, storeDurability, allow } = values;
  const hosts = allow.flat().flatMap(({ kind, what }) => (kind === "net" ? [what] : []));
  const secrets = [tlsKey, tokenFile, tokensFile].filter((path) => path !== undefined);
  const readable = secrets.flatMap((path) => {
    const found = statSync(path, { throwIfNoEntry: false });
    const mode = (found?.mode ?? 0) & 0o777;
    if ((mode & othersMayRead) === 0) return [];
    return [`others can read ${path} (its mode is 0${mode.toString(8)}), which is a secret: chmod 600 ${path}`];
  });
  const durability = storeDurability === "full" && store !== "sqlite" ? [OF_SQLITE] : [];
  const network =
    hosts.length === 0
      ? []
      : [
          `--allow net=${hosts.join(",net=")} opens the whole network, not only these hosts, to all mounted Python files and to answers that they run as code: also this server's own ports, and every host that this machine can reach`,
        ];
  return [...readable, ...durability, ...network];
}

function refuseOpenDoor(
  { host, insecure, tokensFile }: OptionValues,
  tls: TlsConfig | undefined,
  token: string | undefined,
): void {
  if (insecure || isLoopback(host) || tls?.clientCa !== undefined) return;
  if (token !== undefined || tokensFile !== undefined) return;
  throw new ConfigProblem(
    `--host '${host}' is not a loopback address: give --token-file or --tls-client-ca (with --tls-cert and --tls-key) ` +
      "to say who may connect, or --insecure to let anyone who can reach it",
  );
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

export function isLoopback(host: string): boolean {
  const family = isIP(host);
  return family === 0 ? host === "localhost" : loopback.check(host, family === 6 ? "ipv6" : "ipv4");
}
