/** Whom a command asks: a server, or the environments in this process. */
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

/** Options of addRegistryOptions, as commander gives them. */
export interface RegistryFlags {
  readonly dataDir?: string;
  readonly environmentFile?: readonly string[];
  readonly policies?: readonly string[];
}

/** Options of every command that asks for environments or tasks. */
export interface LocalFlags extends RegistryFlags {
  readonly keyFile?: string;
  readonly pool?: readonly string[];
  readonly suiteFile?: readonly string[];
  readonly teacherUrl?: string;
  readonly teacherModel?: string;
}

/** Of commands that check arms and make none of their tasks: no teacher is asked, so there need be none. */
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

/** Gathers an option that may be given several times. */
export const collect = (text: string, before: readonly string[] | undefined): readonly string[] => [
  ...(before ?? []),
  text,
];

/** The server's own options, for work that is done in this process as a server with them would do it. */
function addHere(command: Command, ...names: readonly OptionName[]): Command {
  for (const name of names) command.addOption(serverOption(name).helpGroup("In this process:"));
  return command;
}

/** Options of commands that work on a server's files. */
export function addFolderOptions(command: Command, ...names: readonly OptionName[]): Command {
  for (const name of ["dataDir", ...names] as const) command.addOption(serverOption(name).helpGroup("Options:"));
  return command.option("--json", "print JSON");
}

const MOUNTS = ["python", "mount", "mountTokenFile", "mountCa", "allow", "mountWorkers", "mountMemoryMib"] as const;

/** Options of commands that need to know which environments there are. */
export function addRegistryOptions(command: Command): Command {
  return addHere(command, "dataDir", "environmentFile", ...MOUNTS);
}

/** The columns of files of pools. */
export function addColumnOption(command: Command): Command {
  return addHere(command, "column");
}

/** Options for work in this process. */
export function addLocalOptions(command: Command): Command {
  return addHere(addRegistryOptions(command), "policies", "keyFile", "pool", "column", "teacherUrl", "teacherModel");
}

/** Of commands that score completions: what verifiers may ask, which no flag of theirs says. */
export const VERIFIERS_HELP = `
Writing is compared by a judge and code is run in a sandbox: those of the server with --server, and without it those of
this process, set as for gradus serve:
  GRADUS_JUDGE_URL, GRADUS_JUDGE_MODEL  the judge's OpenAI-compatible endpoint and model: both, or there is no judge
  GRADUS_JUDGE_KEY                      its key, if it wants one
  GRADUS_SANDBOX                        embedded (the default), the URL of a SandboxFusion server, or off`;

/** Options of commands that work with suites in this process. */
export function addSuiteOptions(command: Command): Command {
  return addHere(command, "suiteFile");
}

/** Reads an address that was given as an argument. */
export function hostPort(text: string): string {
  const problem = addressProblem(text);
  if (problem === undefined) return text;
  throw new InvalidArgumentError(`Want host:port of the gRPC port, e.g. localhost:50051; ${problem}.`);
}

/** Options for the choice between a server and this process. */
export function addConnectionOptions(command: Command): Command {
  return addLocalOptions(addServerOptions(command, "without it: in this process"));
}

const THE_SERVER = "The server:";

/** Where `gradus serve` listens. */
export const DEFAULT_SERVER = "localhost:50051";

/** Whom to ask, for a command whose other flags are a server's own, credentials among them. */
export function addReachOptions(command: Command, otherwise = "without it: none is asked"): Command {
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

/** Options of commands whose answers only a server has; see withServer. */
export function addServerOptions(command: Command, otherwise = `without it: ${DEFAULT_SERVER}`): Command {
  const options = [
    new Option("--token <token>", "the server's bearer token (env GRADUS_TOKEN)"),
    new Option("--token-file <file>", "file that holds the token (env GRADUS_TOKEN_FILE)"),
    new Option("--tls-cert <file>", "this client's certificate in PEM, for mutual TLS"),
    new Option("--tls-key <file>", "its private key in PEM"),
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
    // A command has no trace going on, and takes longer with what would look for one.
    tracing: false,
    tls: Object.keys(pem).length > 0 ? pem : flags.tls,
    token: token === undefined && tokenFile === undefined ? tokenOfEnvironment() : tokenFrom(token, tokenFile),
  };
}

/** A flag wins over both variables: a token that is exported for other commands must not take the place of a file's. */
function tokenOfEnvironment(): string | undefined {
  const { GRADUS_TOKEN: token, GRADUS_TOKEN_FILE: file } = process.env;
  return tokenFrom(token, file === "" ? undefined : file);
}

/** The token as the client takes it; a variable that is set to nothing is none. */
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

/** The configuration that a server with these flags would have. */
export function configOf(flags: RegistryFlags): Config {
  const result = readConfig(flags as Readonly<Record<string, unknown>>, process.env);
  if (result.kind === "invalid") throw fileProblem(result.message, "usage");
  return result.config;
}

/** The environments of this process, with the keys and pools that a server with these flags would have. */
export async function localOf(flags: LocalFlags, needs: Needs = "tasks"): Promise<Local> {
  const config = configOf(flags);
  // Loaded here, for a command that asks a server needs no environments.
  const { openLocal } = await import("./local.ts");
  return openLocal(config, needs);
}

/** A client of a server, whose close is its owner's. */
export async function remoteOf(
  server: string,
  flags: ConnectionFlags,
  more: Pick<ClientOptions, "onFeedback"> = {},
): Promise<GradusClient> {
  // Loaded here, for grpc-js takes longer to load than most commands to run.
  const { createClient } = await import("../clients/ts/src/index.ts");
  return createClient(server, { ...clientOptions(flags), ...more });
}

/** Works with a client of whom the flags name; its failures come out in words. */
export async function withClient<T>(
  flags: ConnectionFlags,
  work: (client: GradusClient) => Promise<T>,
  needs: Needs = "tasks",
): Promise<T> {
  const { server } = flags;
  const client = server === undefined ? (await localOf(flags, needs)).client : await remoteOf(server, flags);
  try {
    return await work(client);
  } catch (error) {
    throw problemOf(error, server);
  } finally {
    client.close();
  }
}

/** Works with a client of the server that the flags name, or of the one that `gradus serve` starts. */
export function withServer<T>(flags: ConnectionFlags, work: (client: GradusClient) => Promise<T>): Promise<T> {
  return withClient({ ...flags, server: flags.server ?? DEFAULT_SERVER }, work);
}
