/**
 * Options and settings of mounts. A mount is a Python file with environments, another target that the Python package
 * can mount, or a provider on another machine.
 */
import { availableParallelism } from "node:os";
import { isAbsolute, resolve } from "node:path";
import { readOptionFile } from "../../runtime/files.ts";
import {
  ConfigProblem,
  flag,
  integer,
  list,
  namedPath,
  optionTable,
  type Parsed,
  type ValuesOf,
} from "../../runtime/option-values.ts";

/** A mount that the server runs itself, as a Python process. */
export interface HostMount {
  readonly kind: "host";
  /** Name of the mount in logs and errors: the path of the file, or the target. */
  readonly name: string;
  /** Path of a Python file, or another target that the Python package can mount, e.g. "reasoning-gym". */
  readonly target: string;
}

/** A provider on another machine. */
export interface RemoteMount {
  readonly kind: "remote";
  readonly name: string;
  /** Address as host:port. */
  readonly address: string;
  readonly tls: boolean;
  /** CA certificates in PEM that must have signed the provider's certificate. Undefined: those of this machine. */
  readonly ca: Buffer | undefined;
  readonly token: string | undefined;
}

export type Mount = HostMount | RemoteMount;

export interface MountSettings {
  readonly mounts: readonly Mount[];
  /** Python interpreter that runs mounted Python files. */
  readonly python: string;
  /** Paths and networks that mounted Python files may use besides their own folders and packages. */
  readonly allow: { readonly read: readonly string[]; readonly net: readonly string[] };
  readonly workers: number;
  readonly memoryMib: number;
  /** Paths of the server's own files and folders, which mounted code may not read. */
  readonly hidden: readonly string[];
  /** Whether to mount Python files again when they change. */
  readonly reload: boolean;
  /**
   * Milliseconds for which a run's open groups wait after mounted code has changed, because their tasks were made by
   * the old code. Then the groups are closed.
   */
  readonly replacedGraceMs: number;
}

type MountOption =
  | { readonly kind: "host"; readonly target: string }
  | { readonly kind: "remote"; readonly name: string; readonly address: string; readonly tls: boolean };

const REMOTE = /^([a-zA-Z0-9._-]{1,64})=(?:(grpcs?):\/\/)?((?:\[[0-9a-fA-F:.]+\]|[^\s/:[\]]+):\d{1,5})$/;
/** Matches "ors=ADDRESS": a server of Open Reward Standard environments, and not a provider named "ors". */
const ORS = /^ors=(?!grpcs?:)(\S{1,4000})$/;
const TARGET = /^[a-z][a-z0-9_-]{0,63}(:.{1,4000})?$/;

function readMount(given: string): Parsed<MountOption> {
  const [, ors] = ORS.exec(given) ?? [];
  if (ors !== undefined) return { kind: "value", value: { kind: "host", target: `ors:${ors}` } };
  const [, name = "", scheme = "grpc", address = ""] = REMOTE.exec(given) ?? [];
  if (name !== "") return { kind: "value", value: { kind: "remote", name, address, tls: scheme === "grpcs" } };
  if (TARGET.test(given)) return { kind: "value", value: { kind: "host", target: given } };
  return {
    kind: "refused",
    expected:
      "name=host:port, name=grpcs://host:port, or something to mount, such as rlve-gym, reasoning-core, or reasoning-gym:basic_arithmetic",
  };
}

interface Allowed {
  readonly kind: "read" | "net";
  readonly what: string;
}

/**
 * Reads the option --allow, which lets mounted code read another folder or use the network: read=PATH or net=HOST, or
 * several of these with commas between them.
 */
export function readAllowed(given: string): Parsed<readonly Allowed[]> {
  const parts = given.split(/,(?=(?:read|net)=)/);
  const read = parts.flatMap((each): Allowed[] => {
    const [, kind = "", what = ""] = /^(read|net)=([^\0]{1,4096})$/.exec(each) ?? [];
    if (kind === "net") return [{ kind, what }];
    return kind === "read" ? [{ kind, what: resolve(what) }] : [];
  });
  if (read.length < parts.length)
    return { kind: "refused", expected: "read=PATH or net=HOST, or several of these with commas between them" };
  return { kind: "value", value: read };
}

export const mountOptions = optionTable({
  python: list({
    placeholder: "path",
    description:
      "Python file of environments to mount, e.g. my_env.py; or path of the interpreter (Python 3.10 or newer; default python3) for such files and for the embedded sandbox; may be given several times",
    each: (path) =>
      path === "" ? { kind: "refused", expected: "a text that is not empty" } : { kind: "value", value: path },
  }),
  mount: list({
    placeholder: "what",
    description:
      "environments to mount: a provider on another machine, as name=host:port or name=grpcs://host:port; or a target of the Python package, such as rlve-gym, reasoning-gym:NAMES or ors=host:port (`gradus envs --mounts` lists all); may be given several times",
    each: readMount,
  }),
  mountTokenFile: list({
    placeholder: "name=file",
    description:
      "file with the bearer token for the provider that has this name in --mount; may be given several times",
    each: namedPath,
  }),
  mountCa: list({
    placeholder: "name=file",
    description:
      "file with the CA certificates, in PEM, that sign the certificate of the provider that has this name in --mount; may be given several times; default: the CAs of this machine",
    each: namedPath,
  }),
  allow: list({
    placeholder: "read=path,net=host",
    description:
      "what mounted Python files may use besides their own folders and packages. read: a folder or file to read; net: a host to connect to, which at present allows all hosts. May be given several times",
    each: readAllowed,
  }),
  reload: flag({
    description:
      "for development: mount a file of --python again when it changes. Tasks of the old code are then refused; if the new code cannot be mounted, the old code stays in use",
  }),
  replacedGraceMs: integer({
    description:
      "if mounted code has changed: milliseconds for which open groups of a run wait for the old code, which made their tasks, to be mounted again; then the groups are closed, so that the run continues",
    range: [0, 86_400_000],
    defaultValue: 60_000,
  }),
  mountWorkers: integer({
    description: "number of worker processes of each mounted file, which make instances and verify answers",
    range: [1, 256],
    defaultValue: availableParallelism(),
  }),
  mountMemoryMib: integer({
    description: "maximum memory of each worker process of a mounted file beyond what it has at its start, in MiB",
    range: [16, 1024 * 1024],
    defaultValue: 1024,
  }),
});

/**
 * Returns whether a value of `--python` is a Python file to mount. Any other value is the path of the Python
 * interpreter.
 */
const isFile = (path: string): boolean => path.endsWith(".py");

/** Returns the Python interpreter: the last value of `--python` that is not a Python file to mount, or python3. */
export function interpreterOf({ python }: Pick<ValuesOf<typeof mountOptions>, "python">): string {
  return python.findLast((path) => !isFile(path)) ?? "python3";
}

/**
 * Reads the mount options. `hidden` are the server's own files and folders, which mounted code may not read. Throws
 * ConfigProblem.
 */
export function readMounts(values: ValuesOf<typeof mountOptions>, hidden: readonly string[]): MountSettings {
  const { python, mount, allow, mountWorkers: workers, mountMemoryMib: memoryMib, reload, replacedGraceMs } = values;
  const files = python.filter(isFile).map((path): Mount => ({ kind: "host", name: path, target: asTarget(path) }));
  const mounts = [...files, ...mount.map((given) => mountOf(given, values))];
  const names = mounts.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined)
    throw new ConfigProblem(`--mount and --python must name each mount once; got '${twice}' twice`);
  for (const [option, named] of [
    ["mount-token-file", values.mountTokenFile],
    ["mount-ca", values.mountCa],
  ] as const) {
    const unknown = named.find(({ name }) => !mounts.some((each) => each.kind === "remote" && each.name === name));
    if (unknown !== undefined)
      throw new ConfigProblem(`--${option} must name a provider of --mount name=host:port; got '${unknown.name}'`);
  }
  const what = (kind: "read" | "net") => allow.flat().flatMap((each) => (each.kind === kind ? [each.what] : []));
  const allowed = { read: what("read"), net: what("net") };
  const rest = { workers, memoryMib, hidden, reload, replacedGraceMs };
  return Object.freeze({ mounts, python: interpreterOf(values), allow: allowed, ...rest });
}

function asTarget(path: string): string {
  return isAbsolute(path) ? path : resolve(path);
}

function mountOf(given: MountOption, { mountTokenFile, mountCa }: ValuesOf<typeof mountOptions>): Mount {
  if (given.kind === "host") return { kind: "host", name: given.target, target: given.target };
  const { name, address, tls } = given;
  const fileOf = (option: string, files: typeof mountCa): string | undefined => {
    const path = files.findLast((each) => each.name === name)?.path;
    return path && readOptionFile(option, path);
  };
  const ca = fileOf("mount-ca", mountCa);
  const token = fileOf("mount-token-file", mountTokenFile)?.trim();
  if (ca !== undefined && !tls)
    throw new ConfigProblem(`--mount-ca ${name} is for TLS: mount it as ${name}=grpcs://${address}`);
  if (token !== undefined && !tls && !/^(localhost|127\.|\[::1\])/.test(address))
    throw new ConfigProblem(
      `--mount-token-file ${name} would be sent in clear text: mount it as ${name}=grpcs://${address}`,
    );
  return { kind: "remote", name, address, tls, ca: ca === undefined ? undefined : Buffer.from(ca), token };
}

/** Returns the settings as they may be printed, without tokens. */
export function describeMounts({ mounts, hidden: _, ...rest }: MountSettings): Readonly<Record<string, unknown>> {
  const named = mounts.map((mount) => (mount.kind === "host" ? mount.target : `${mount.name}=${mount.address}`));
  return { ...rest, mounts: named };
}
