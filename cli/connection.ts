/** Connects a command to a server, or to the environments in this process. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { addressProblem } from "../clients/ts/src/grpc/address.ts";
import type { ClientOptions } from "../clients/ts/src/index.ts";
import type { GradusClient } from "../clients/ts/src/public.ts";
import { tokenOf } from "../clients/ts/src/token.ts";
import { type Config, readConfig, serverOption } from "../server/runtime/config.ts";
import type { OptionName } from "../server/runtime/options.ts";
import type { Local, Needs } from "./local.ts";
import { readFileOf } from "./files.ts";
import { CliProblem, fileProblem, problemOf } from "./problem.ts";

/** Values of the options that load environments and policies. */
export interface RegistryFlags {
  readonly dataDir?: string;
  readonly environmentFile?: readonly string[];
  readonly policies?: readonly string[];
}

/** Values of the options of commands that make or verify tasks themselves, without a server. */
export interface LocalFlags extends RegistryFlags {
  readonly keyFile?: string;
  readonly pool?: readonly string[];
  readonly suiteFile?: readonly string[];
  readonly teacherUrl?: string;
  readonly teacherModel?: string;
}

/**
 * Placeholder configuration of a teacher (a model that writes tasks), for commands that check arms without making their
 * tasks. The teacher is never asked, so the user need not configure one.
 */
export const ANY_TEACHER = { teacherUrl: "http://localhost/v1", teacherModel: "any" } as const satisfies LocalFlags;

export interface ConnectionFlags extends LocalFlags {
  readonly server?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly tls?: boolean;
  readonly tlsCa?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
}

/** Collects the values of an option that may be given several times. */
export const collect = (text: string, before: readonly string[] | undefined): readonly string[] => [
  ...(before ?? []),
  text,
];

/** Adds options of `gradus serve` to a command that does a server's work in this process. */
function addHere(command: Command, ...names: readonly OptionName[]): Command {
  for (const name of names) command.addOption(serverOption(name).helpGroup("In this process:"));
  return command;
}

/** Adds options of commands that work on the files in a server's data folder. */
export function addFolderOptions(command: Command, ...names: readonly OptionName[]): Command {
  for (const name of ["dataDir", ...names] as const) command.addOption(serverOption(name).helpGroup("Options:"));
  return command.option("--json", "print JSON");
}

const MOUNTS = ["python", "mount", "mountTokenFile", "mountCa", "allow", "mountWorkers", "mountMemoryMib"] as const;

/** Adds options of commands that need to know the environments. */
export function addRegistryOptions(command: Command): Command {
  return addHere(command, "dataDir", "environmentFile", ...MOUNTS);
}

/** Adds the option that names the columns of pool files. */
export function addColumnOption(command: Command): Command {
  return addHere(command, "column");
}

/** Adds options for making and scoring tasks in this process. */
export function addLocalOptions(command: Command): Command {
  return addHere(addRegistryOptions(command), "policies", "keyFile", "pool", "column", "teacherUrl", "teacherModel");
}

/**
 * Help text for commands that score completions. It lists the variables that configure judge and sandbox, which have no
 * flags here.
 */
export const VERIFIERS_HELP = `
Some environments need a judge, which compares texts, or a sandbox, which runs code. With --server, the server uses its
own. Without --server, this process uses those that these variables set, as for gradus serve:
  GRADUS_JUDGE_URL, GRADUS_JUDGE_MODEL  the judge's OpenAI-compatible endpoint and model: both, or there is no judge
  GRADUS_JUDGE_KEY                      its key, if it wants one
  GRADUS_SANDBOX                        embedded (the default), the URL of a SandboxFusion server, or off`;

/** Adds options of commands that work with suites of tasks in this process. */
export function addSuiteOptions(command: Command): Command {
  return addHere(command, "suiteFile");
}

/** Returns an address of the form host:port unchanged. Throws an error for any other address. */
export function hostPort(text: string): string {
  const problem = addressProblem(text);
  if (problem === undefined) return text;
  throw new InvalidArgumentError(`Want host:port of the gRPC port, e.g. localhost:50051; ${problem}.`);
}

/** Adds options that choose between a server and this process. */
export function addConnectionOptions(command: Command): Command {
  return addLocalOptions(addServerOptions(command, "without it: in this process"));
}

const THE_SERVER = "The server:";

/** The address on which `gradus serve` listens by default. */
export const DEFAULT_SERVER = "localhost:50051";

/**
 * Adds the options that name a server, but not those for credentials. Used by commands that also take the flags of
 * `gradus serve`, which include the credentials.
 */
export function addReachOptions(command: Command, otherwise = "without it: no server is asked"): Command {
  const options = [
    new Option("--server <host:port>", `gRPC port of a running server; ${otherwise}`)
      .env("GRADUS_SERVER")
      .argParser(hostPort),
    new Option("--tls", "speak TLS to the server"),
    new Option("--tls-ca <file>", "certificates in PEM that vouch for the server"),
  ];
  for (const option of options) command.addOption(option.helpGroup(THE_SERVER));
  return command;
}

/** Adds options of commands that call a server. For commands that always need one, see withServer. */
export function addServerOptions(command: Command, otherwise = `without it: ${DEFAULT_SERVER}`): Command {
  const options = [
    new Option("--token <token>", "the server's bearer token (env GRADUS_TOKEN)"),
    new Option("--token-file <file>", "file that holds the token (env GRADUS_TOKEN_FILE)"),
    new Option("--tls-cert <file>", "this client's certificate in PEM, for mutual TLS"),
    new Option("--tls-key <file>", "private key in PEM of the certificate of --tls-cert"),
  ];
  addReachOptions(command, otherwise);
  for (const option of options) command.addOption(option.helpGroup(THE_SERVER));
  return command;
}

export function clientOptions(flags: ConnectionFlags): ClientOptions {
  const { token, tokenFile, tlsCa: ca, tlsCert: cert, tlsKey: key } = flags;
  const pem = {
    ...(ca === undefined ? {} : { ca: readFileOf("--tls-ca", ca) }),
    ...(cert === undefined ? {} : { cert: readFileOf("--tls-cert", cert) }),
    ...(key === undefined ? {} : { key: readFileOf("--tls-key", key) }),
  };
  return {
    retry: false,
    // Turn tracing off: a command continues no trace, and looking for one would slow it down.
    tracing: false,
    tls: Object.keys(pem).length > 0 ? pem : flags.tls,
    token: token === undefined && tokenFile === undefined ? tokenOfEnvironment() : tokenFrom(token, tokenFile),
  };
}

/**
 * Returns the token of the environment variables. Used only if no flag gives a token: a token exported for other
 * commands must not override a file named by a flag.
 */
function tokenOfEnvironment(): string | undefined {
  const { GRADUS_TOKEN: token, GRADUS_TOKEN_FILE: file } = process.env;
  return tokenFrom(token, file === "" ? undefined : file);
}

/** Returns a token in the form that the client accepts. An empty token counts as none. */
function tokenFrom(token: string | undefined, file: string | undefined): string | undefined {
  const given = token === "" ? undefined : token;
  const text = given ?? (file === undefined ? undefined : readFileOf("--token-file", file));
  try {
    return tokenOf(text);
  } catch (error) {
    const flag = given === undefined ? `--token-file '${file}'` : "--token (env GRADUS_TOKEN)";
    throw new CliProblem("usage", (error as Error).message.replace(/^token:/, `${flag}:`));
  }
}

/** Returns the configuration that a server with these flags would have. */
export function configOf(flags: RegistryFlags): Config {
  const result = readConfig(flags as Readonly<Record<string, unknown>>, process.env);
  if (result.kind === "invalid") throw fileProblem(result.message, "usage");
  return result.config;
}

/** Opens the environments in this process, with the keys and pools that a server with these flags would have. */
export async function localOf(flags: LocalFlags, needs: Needs = "tasks"): Promise<Local> {
  const config = configOf(flags);
  // Load the module only here, because a command that uses a server needs no environments.
  const { openLocal } = await import("./local.ts");
  return openLocal(config, needs);
}

/** Options of the client that connects to a server, which commands set differently, e.g. whether calls are retried. */
type RemoteOptions = Pick<ClientOptions, "onFeedback" | "retry" | "deadlineMs">;

/** Connects to a server. The caller closes the client. */
export async function remoteOf(
  server: string,
  flags: ConnectionFlags,
  more: RemoteOptions = {},
): Promise<GradusClient> {
  // Load the client only here, because grpc-js takes longer to load than most commands take to run.
  const { createClient } = await import("../clients/ts/src/index.ts");
  return createClient(server, { ...clientOptions(flags), ...more });
}

/**
 * Runs `work` with a client of the server that the flags name, or of this process. Turns errors of `work` into messages
 * for the user.
 */
export async function withClient<T>(
  flags: ConnectionFlags,
  work: (client: GradusClient) => Promise<T>,
  needs: Needs = "tasks",
  more: RemoteOptions = {},
): Promise<T> {
  const { server } = flags;
  const client = server === undefined ? (await localOf(flags, needs)).client : await remoteOf(server, flags, more);
  try {
    return await work(client);
  } catch (error) {
    throw problemOf(error, server);
  } finally {
    client.close();
  }
}

/** Runs `work` with a client of the server that the flags name, or of the default server. */
export function withServer<T>(flags: ConnectionFlags, work: (client: GradusClient) => Promise<T>): Promise<T> {
  return withClient({ ...flags, server: flags.server ?? DEFAULT_SERVER }, work);
}
