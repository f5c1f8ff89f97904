/** Checks of `gradus doctor`: whether a server with these flags would start on this machine, and what it would lack. */
import { accessSync, closeSync, constants, existsSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join, resolve } from "node:path";
import type { GradusClient } from "../clients/ts/src/public.ts";
import type { EndpointOptions } from "../server/outside/chat-endpoint.ts";
import type { SandboxSettings } from "../server/outside/sandbox/sandbox-settings.ts";
import type { KernelIsolation } from "../server/outside/sandbox/zygote.ts";
import type { Config } from "../server/runtime/config.ts";
import { version } from "../server/runtime/version.ts";
import { type Check, missing, ok, warning } from "./doctor-check.ts";

/** Runs all checks of a valid server configuration. */
export async function* checks(config: Config): AsyncGenerator<Check> {
  yield node();
  const { tokensProblem } = await import("../server/runtime/tokens.ts");
  const problem = tokensProblem(config.tokensFile);
  if (problem !== undefined) yield missing("tokens", problem, "correct the file");
  for (const found of config.warnings) yield warning("configuration", found);
  yield dataFolder(config.dataDir);
  if (config.store === "sqlite") {
    yield* runFiles(config.dataDir);
    yield* runsHere(config.dataDir);
  }
  yield await keys(config);
  yield clock(config.dataDir);
  if (/^postgres(ql)?:/.test(config.store)) {
    const { databaseChecks } = await import("./doctor-database.ts");
    yield* databaseChecks(config.store);
  }
  yield await port("gRPC port", "--port", config.host, config.port);
  yield await port("HTTP port", "--http-port", config.host, config.httpPort);
  if (config.metricsPort !== undefined)
    yield await port("metrics port", "--metrics-port", config.host, config.metricsPort);
  yield* sandbox(config.sandbox);
  for (const name of ["judge", "teacher"] as const) yield await endpoint(name, config[name]);
}

const NODE_MAJOR_MIN = 24;

function node(): Check {
  const { node: version } = process.versions;
  if (Number(version.split(".")[0]) >= NODE_MAJOR_MIN) return ok("Node", version);
  return missing("Node", version, `install Node ${NODE_MAJOR_MIN} or newer`);
}

/** Checks the data folder. A server creates a missing folder, so a parent folder that can be written suffices. */
function dataFolder(directory: string): Check {
  let above = resolve(directory);
  while (!existsSync(above)) above = dirname(above);
  try {
    accessSync(above, constants.W_OK | constants.X_OK);
    if (statSync(above).isDirectory())
      return ok("data folder", above === resolve(directory) ? directory : `${directory}, which will be made`);
  } catch {
    // Go on to the report below, because a folder that cannot be opened is a problem too.
  }
  const remedy = "correct its owner and mode, or give another --data-dir";
  return missing("data folder", `${above} is not a writable folder`, remedy);
}

/** Returns the names in a folder, or none if the folder is unreadable, which `dataFolder` reports. */
function filesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/**
 * Offset in an SQLite file, in bytes, of the user version, which holds our schema version
 * (https://sqlite.org/fileformat.html#user_version_number).
 */
const USER_VERSION_AT = 60;

/**
 * Checks whether a server of this version could open the SQLite files of the folder. Reads only file headers, because
 * opening a database may change it.
 */
async function* runFiles(directory: string): AsyncGenerator<Check> {
  const [{ runSchema }, { evaluationSchema }, { sampleSchema }] = await Promise.all([
    import("../server/stores/sqlite-runs.ts"),
    import("../server/stores/sqlite-evaluations.ts"),
    import("../server/stores/sqlite-samples.ts"),
  ]);
  for (const { file: name, version: known, upgrade } of [runSchema, evaluationSchema, sampleSchema]) {
    try {
      const version = userVersionOf(join(directory, name));
      if ([0, known, upgrade?.from].includes(version)) continue;
      const found = `it has schema version ${version}, and this server reads version ${known}`;
      const remedy = "use the server that wrote it, or give another --data-dir (docs/guides/upgrading.md)";
      yield missing(name, found, remedy);
    } catch (error) {
      yield missing(name, (error as Error).message, "correct its owner and mode, or restore it from a backup");
    }
  }
}

const RUNS_MS_MAX = 20_000;
const SHOWN_MAX = 5;

/** Reports the stored runs that cannot be read. `found` says in words how many runs were checked, for the report. */
function runsCheck(found: string, damaged: readonly { readonly id: string; readonly problem: string }[]): Check {
  if (damaged.length === 0) return ok("runs", `${found}, each as it was written`);
  const named = damaged.slice(0, SHOWN_MAX).map(({ id, problem }) => `run "${id}": ${problem}`);
  const remedy = "restore them from a backup (gradus restore), or delete them (gradus run delete)";
  const all = `${found}, ${damaged.length} cannot be read: ${named.join("; ")}${damaged.length > SHOWN_MAX ? "; …" : ""}`;
  return missing("runs", all, remedy);
}

async function* runsHere(directory: string): AsyncGenerator<Check> {
  const { checkRuns } = await import("../server/stores/sqlite-check.ts");
  try {
    const result = checkRuns(directory, RUNS_MS_MAX);
    if (result === undefined) return;
    const { checked, isCutShort, damaged } = result;
    yield runsCheck(isCutShort ? `the first ${checked} runs` : `${checked} runs`, damaged);
  } catch (error) {
    const remedy = "fix the problem named here, or restore a backup (gradus restore)";
    yield missing("runs", (error as Error).message, remedy);
  }
}

/** Checks the runs of a running server, whose list of runs marks those that the server cannot read. */
export async function serverRunsCheck(client: GradusClient): Promise<Check> {
  const runs = await client.listRuns();
  const damaged = runs.flatMap(({ runId, unreadable }) =>
    unreadable === "" ? [] : [{ id: runId, problem: unreadable }],
  );
  return { ...runsCheck(`${runs.length} runs`, damaged), name: "server: runs" };
}

/** Returns the user version of an SQLite file, or 0 if the file is missing or empty. */
function userVersionOf(path: string): number {
  if (!existsSync(path)) return 0;
  const head = Buffer.alloc(USER_VERSION_AT + 4);
  const descriptor = openSync(path, "r");
  try {
    return readSync(descriptor, head) === head.length ? head.readUInt32BE(USER_VERSION_AT) : 0;
  } finally {
    closeSync(descriptor);
  }
}

async function keys(config: Config): Promise<Check> {
  const name = "task keys";
  const [{ keyFileOf, loadKeyring }, { keyName }] = await Promise.all([
    import("../server/tasks/keyring.ts"),
    import("../server/tasks/rotate-keys.ts"),
  ]);
  const file = keyFileOf(config);
  if (config.keyFile === undefined && !existsSync(file)) return ok(name, `none yet: a server makes ${file}`);
  const loaded = loadKeyring({ ...config, keyFile: file });
  if (loaded.kind === "invalid")
    return missing(name, loaded.message, "give the --key-file that the other servers have");
  if (loaded.warning !== undefined) return warning(name, loaded.warning);
  return ok(name, `${file}: ${loaded.keyring.map(keyName).join(", ")}`);
}

/**
 * Maximum time, in milliseconds, by which a file may be newer than this machine's clock. Larger differences are
 * reported.
 */
const CLOCK_MS_MAX = 60_000;

/**
 * Checks the clock, by which runs expire. Files that are newer than the current time show that the clock was set back.
 */
function clock(directory: string): Check {
  const files = filesIn(directory);
  const newest = Math.max(
    ...files.map((file) => statSync(join(directory, file), { throwIfNoEntry: false })?.mtimeMs ?? 0),
  );
  const now = new Date();
  if (newest <= now.getTime() + CLOCK_MS_MAX) return ok("clock", now.toISOString());
  const found = `${now.toISOString()}, and the data folder was written at ${new Date(newest).toISOString()}`;
  return missing("clock", found, "set the clock, e.g. by NTP: runs expire by it");
}

async function port(name: string, flag: string, host: string, number: number): Promise<Check> {
  if (number === 0) return ok(name, "any free one");
  const problem = await new Promise<string | undefined>((done) => {
    const server = createServer().once("error", (error: NodeJS.ErrnoException) => done(error.code ?? error.message));
    server.listen({ host, port: number }, () => server.close(() => done(undefined)));
  });
  if (problem === undefined) return ok(name, `${number} is free`);
  if (problem === "EADDRINUSE") {
    const remedy = `if that is not your own server, give another ${flag}`;
    return warning(name, `something listens on ${number} of ${host}`, remedy);
  }
  const remedy = `give another ${flag} or --host`;
  return missing(name, `${host} port ${number} is not available (${problem})`, remedy);
}

const NO_CODE = "without a sandbox, no task can run code; if no task needs it, give --sandbox off";

async function* sandbox(settings: SandboxSettings | undefined): AsyncGenerator<Check> {
  if (settings === undefined) {
    yield ok("sandbox", "off: programs of models are not run");
    return;
  }
  const { openSandbox } = await import("../server/outside/sandbox/open-sandbox.ts");
  const opened = await openSandbox(settings);
  if (opened.kind === "missing") {
    yield missing("sandbox", opened.why, NO_CODE);
    return;
  }
  await opened.close();
  if (settings.kind === "remote") yield ok("sandbox", `${settings.url}, which the first program will ask`);
  else yield* isolationChecks(opened.found as unknown as KernelIsolation);
}

const CHECK = "gradus sandbox check says what programs can do on this machine";

/**
 * Reports for each feature of the Linux kernel that isolates programs whether this machine has it, and what the sandbox
 * uses otherwise.
 */
export function* isolationChecks(found: KernelIsolation): Generator<Check> {
  const { python, landlock, namespaces, noNamespaces, library, user } = found;
  const wall = (name: string, has: boolean, yes: string, no: string, remedy: string): Check =>
    has ? ok(name, yes) : warning(name, no, remedy);
  yield ok("Python", `${python}, at least 3.10`);
  yield ok("sandbox: seccomp", `an allow-list of system calls, as user ${user}`);
  yield wall(
    "sandbox: Landlock",
    landlock > 0,
    `version ${landlock}, which keeps programs away from files`,
    "no: only namespaces keep programs away from files",
    `a kernel of 5.13 or newer, with landlock in its lsm= list; ${CHECK}`,
  );
  yield wall(
    "sandbox: namespaces",
    namespaces,
    "programs have their own files, processes, network and shared memory",
    `no (${noNamespaces ?? "unknown"}): only seccomp and Landlock confine programs`,
    `allow user namespaces (kernel.unprivileged_userns_clone, user.max_user_namespaces; in a container its profile); ${CHECK}`,
  );
  yield wall(
    "sandbox: library",
    library,
    "programs can import all of Python's standard library",
    "programs can import only the modules that the sandbox has already imported",
    `let others read Python's standard library, for programs run as user ${user}`,
  );
}

const ANSWER_MS_MAX = 15_000;

/**
 * Checks an OpenAI-compatible endpoint by requesting one token. This tests the address, the key and the model's name.
 */
async function endpoint(name: "judge" | "teacher", config: EndpointOptions | undefined): Promise<Check> {
  if (config === undefined) return ok(name, `none: --${name}-url and --${name}-model name one`);
  const { createEndpoint } = await import("../server/outside/chat-endpoint.ts");
  const ask = createEndpoint({ ...config, timeoutMs: ANSWER_MS_MAX, outputTokensMax: 1 });
  const reply = await ask([{ role: "user", content: "Say yes." }], AbortSignal.timeout(ANSWER_MS_MAX));
  const at = `${config.model} at ${config.url}`;
  if (reply.kind === "reply") return ok(name, at);
  const found = `${at}: ${reply.message}`;
  return missing(name, found, `correct --${name}-url, --${name}-model or GRADUS_${name.toUpperCase()}_KEY`);
}

/** Checks a running server: it must reply, accept the credentials, and have the version of this command line. */
export async function serverCheck(client: GradusClient, server: string): Promise<Check> {
  const { version: there, environments, store } = await client.getServerInfo();
  const found = `${server} answers: Gradus ${there}, with ${environments} environments and ${store} for a store`;
  if (there === version) return ok("server", found);
  const remedy = `this command line is ${version}: commands or fields that only one of the two has are refused`;
  return warning("server", found, remedy);
}
