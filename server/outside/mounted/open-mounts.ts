/**
 * Opens mounted environments: starts Python hosts, connects to providers, and examines each level before
 * it is served.
 */
import type { Environment } from "../../../envs/environment.ts";
import { createRegistry, type Registry } from "../../../envs/registry.ts";
import { createMountCounter, type MountCounter, type MountFigures } from "./mount-metrics.ts";
import { type Described, readDescribed, type Refused } from "./read-description.ts";
import { mountedEnvironment } from "./mounted-environment.ts";
import { type Finding, ON_DESCRIBE } from "./examine-level.ts";
import { openLocal } from "./local-provider.ts";
import type { Provider } from "./provider.ts";
import { sourcesWithin } from "./watch-sources.ts";
import { openRemote } from "./remote-provider.ts";
import { problemOf } from "./rules.ts";
import { findPython, withoutPackage } from "../sandbox/find-python.ts";
import type { Mount, MountSettings } from "./mount-options.ts";
import { type Background, createBackground, createTrials, type KnownLevels, type Trials } from "./examine-levels.ts";

export interface MountContext {
  /**
   * Called when a mounted file or provider is ready. The report has the numbers of its environments and levels, and
   * names those that it does not serve.
   */
  readonly onMount: (mounted: MountReport) => void;
  /** Called with the number of examined levels if a mount takes longer than QUIET_MS to get ready. */
  readonly onProgress?: (mount: string, done: number, total: number) => void;
  /** Called for each level that fails its examination after the mount has begun to serve. */
  readonly onRefused: (refused: Refused) => void;
  /** Called for each failure of a provider, e.g. when its process ended. */
  readonly onFault: (mount: string, why: string) => void;
  /** Levels that have passed their examination before. Undefined: all levels are examined. */
  readonly known?: KnownLevels;
}

export interface MountReport {
  readonly name: string;
  /** The provider's own description of the program that hosts the environments, and how a local host is isolated. */
  readonly host: string;
  readonly environments: number;
  readonly levels: number;
  /** Number of levels that are not examined yet. Each one is examined before its first task is given. */
  readonly untried: number;
  readonly refused: readonly Refused[];
  readonly remarks: readonly string[];
}

export interface BeginContext extends MountContext {
  /**
   * Called with all mounted environments whenever one of the mounts was opened or has changed, before they are served.
   * Returns why the server cannot serve them together; undefined if it can.
   */
  readonly adopt: (environments: readonly Environment[]) => string | undefined;
}

export interface Mounts {
  /**
   * Resolves to undefined when all mounts are opened. If one of them cannot be opened, resolves to the reason, in words
   * for the operator. Never rejects.
   */
  readonly ready: Promise<string | undefined>;
  /** Returns the names of mounted files and providers that are not ready yet. */
  pending(): readonly string[];
  /** Returns the environments that are mounted now. */
  environments(): readonly Environment[];
  /**
   * Mounts a file or provider again, by its name. If its environments are unchanged or cannot be mounted, the earlier
   * ones are still served.
   */
  again(name: string): Promise<Remounted>;
  /**
   * Returns the absolute paths of the Python files that the mount was loaded from, or that its last failed attempt
   * read. All lie in the folder of the mounted file.
   */
  sources(name: string): readonly string[];
  readonly figures: () => readonly MountFigures[];
  close(): Promise<void>;
}

export type Remounted =
  | { readonly kind: "changed"; readonly before: readonly Environment[]; readonly now: readonly Environment[] }
  | { readonly kind: "same" }
  /** The new code cannot be mounted, so the old one is still served. `why` is in words for the operator. */
  | { readonly kind: "kept"; readonly why: string };

export type OpenedMounts =
  | { readonly kind: "ok"; readonly mounts: Mounts }
  /** A mount cannot be opened. `message` is in words for the operator. */
  | { readonly kind: "invalid"; readonly message: string };

/**
 * Maximum time, in milliseconds, that mounting waits for levels to be examined. The remaining levels are examined
 * later. A mount of more than LEVELS_MANY levels waits for less, because most of its levels remain either way.
 */
const TRIED_MS = 30_000;
const TRIED_MANY_MS = 3000;
const LEVELS_MANY = 256;
/** Milliseconds after which the progress of a mount that is not ready yet is reported. */
const QUIET_MS = 2000;
/** Maximum number of answers in progress per worker: one full frame of 64 that it works on, and one that waits. */
const ANSWERS_PER_WORKER = 128;
const REMOTE_ANSWERS = 512;

/**
 * Opens all mounts. Resolves when they are ready or one of them cannot be mounted. `triedMs` is the maximum time, in
 * milliseconds, that each waits for its levels to be examined. Defaults to TRIED_MS, or to TRIED_MANY_MS for a mount of
 * more than LEVELS_MANY levels.
 */
export async function openMounts(
  settings: MountSettings,
  context: MountContext,
  triedMs?: number,
): Promise<OpenedMounts> {
  const mounts = beginMounts(settings, { ...context, adopt: () => undefined }, triedMs);
  const message = await mounts.ready;
  if (message === undefined) return { kind: "ok", mounts };
  await mounts.close();
  return { kind: "invalid", message };
}

/**
 * Begins to open all mounts at the same time. Each is passed to `adopt` as soon as it is ready, so that a slow one does
 * not delay the others.
 */
export function beginMounts(settings: MountSettings, context: BeginContext, triedMs?: number): Mounts {
  const counters = new Map(settings.mounts.map(({ name }) => [name, createMountCounter(name)]));
  const sources = new Map<string, readonly string[]>();
  const mounted = new Map<string, OpenedMount>();
  const closing = new AbortController();
  const background = createBackground();
  const open = async (mount: Mount): Promise<OpenedOne> => {
    const { name } = mount;
    let told: readonly string[] = [];
    const { signal } = closing;
    const onSources = (paths: readonly string[]): void => void (told = paths);
    const opened = await openOne(mount, settings, counters.get(name) as MountCounter, {
      ...context,
      onSources,
      signal,
      triedMs,
      background,
    });
    if (opened.kind === "opened" && signal.aborted) await opened.close();
    const before = opened.kind === "failed" ? (sources.get(name) ?? []) : [];
    sources.set(name, sourcesWithin(mount, [...told, ...before]));
    return opened;
  };
  // The result has the order of the command-line options, not the order in which mounts became ready.
  const environments = (): readonly Environment[] =>
    settings.mounts.flatMap(({ name }) => mounted.get(name)?.environments ?? []);
  const exchange = async (mount: Mount, before: OpenedMount | undefined): Promise<Remounted> => {
    const { name } = mount;
    const next = await open(mount);
    if (next.kind === "failed") return { kind: "kept", why: next.message };
    const isSame = before !== undefined && digestsOf(next) === digestsOf(before);
    if (!isSame) mounted.set(name, next);
    const why = isSame ? undefined : context.adopt(environments());
    if (why !== undefined && before !== undefined) mounted.set(name, before);
    // Closing the replaced mount ends the requests that wait for it with a failure. Their callers may retry.
    if (before !== undefined) await (mounted.get(name) === next ? before : next).close();
    if (why !== undefined) return { kind: "kept", why };
    return isSame ? { kind: "same" } : { kind: "changed", before: before?.environments ?? [], now: next.environments };
  };
  const again: Mounts["again"] = async (name) => {
    const [mount, before] = [settings.mounts.find((each) => each.name === name), mounted.get(name)];
    if (mount === undefined || before === undefined) throw new Error(`bug: nothing is mounted as ${name}`);
    const found = await exchange(mount, before);
    counters.get(name)?.remounted(found.kind);
    return found;
  };
  const begun = settings.mounts.map(async (mount) => {
    const found = await exchange(mount, undefined);
    if (found.kind === "kept") throw new Error(found.why);
  });
  const ready = Promise.all(begun).then(
    () => undefined,
    ({ message }: Error) => message,
  );
  return {
    ready,
    pending: () => settings.mounts.flatMap(({ name }) => (mounted.has(name) ? [] : [name])),
    environments,
    again,
    sources: (name) => sources.get(name) ?? [],
    figures: () => [...mounted.values()].map((each) => each.figures()),
    close: async () => {
      closing.abort();
      for (const each of mounted.values()) await each.close();
    },
  };
}

function digestsOf({ environments }: OpenedMount): string {
  return environments.map(({ id, version, asked }) => `${id} ${version} ${asked?.digest ?? ""}`).join();
}

interface OpenedMount {
  readonly kind: "opened";
  readonly environments: readonly Environment[];
  readonly figures: () => MountFigures;
  readonly close: () => Promise<void>;
}

/**
 * Context in which one mount is opened. `onSources` receives the paths of the Python files that the host imported
 * (HostReady.sources).
 */
type OneContext = MountContext & {
  readonly onSources: (paths: readonly string[]) => void;
  /** Aborted when the mounts are closed. */
  readonly signal: AbortSignal;
  /** Maximum milliseconds that mounting waits for levels to be examined. Undefined: TRIED_MS or TRIED_MANY_MS. */
  readonly triedMs: number | undefined;
  readonly background: Background;
};

type OpenedOne = OpenedMount | { readonly kind: "failed"; readonly message: string };

async function openOne(
  mount: Mount,
  settings: MountSettings,
  counter: MountCounter,
  context: OneContext,
): Promise<OpenedOne> {
  const { name } = mount;
  const { background } = context;
  const found = await reach(mount, settings, counter, context);
  const failed = (why: string): OpenedOne => ({ kind: "failed", message: `${name} cannot be mounted: ${why}` });
  if (found.kind === "failed")
    return failed(found.why.includes("No module named 'gradus'") ? withoutPackage(settings.python) : found.why);
  const { locked } = found;
  const provider = counter.count(found.provider);
  const read = readDescribed(provider.described);
  if (read.kind === "invalid") {
    await provider.close();
    return failed(read.why);
  }
  const change = await provider.probe(new AbortController().signal);
  const why = problemOf(ON_DESCRIBE, { change }, undefined);
  if (why !== undefined) {
    await provider.close();
    return failed(why);
  }
  const trials = await beginTrials(name, found.provider, read.environments, context);
  const close = async (): Promise<void> => {
    trials.close();
    await provider.close();
  };
  const { served, refused, remarks } = sift(read.environments, trials);
  refused.unshift(...read.refused);
  if (served.length === 0) {
    await close();
    const why = refused.map(({ name: what, reason }) => `${what}: ${reason}`).join("; ");
    return failed(why === "" ? "it has no environments" : `none of its environments can be served: ${why}`);
  }
  const concurrency = mount.kind === "remote" ? REMOTE_ANSWERS : settings.workers * ANSWERS_PER_WORKER;
  context.onMount({
    name,
    host: [read.host, locked].filter((words) => words !== "").join(", "),
    environments: served.length,
    levels: served.reduce((sum, { levels }) => sum + levels.length, 0),
    untried: trials.counts().get("untried") ?? 0,
    refused,
    remarks,
  });
  const onBroken = (environment: string, _: string, why: string): void => context.onFault(environment, why);
  const serving: Provider = { ...provider, generate: (...asked) => background.making(provider.generate(...asked)) };
  const environments = served.map((described) =>
    mountedEnvironment(described, {
      mount: name,
      provider: serving,
      concurrency,
      lawful: trials.of,
      found: trials.found,
      onBroken,
    }),
  ) as readonly Environment[];
  return { kind: "opened", environments, figures: () => counter.figures(trials.counts), close };
}

type ReachedProvider =
  | { readonly kind: "opened"; readonly provider: Provider; readonly locked: string }
  | { readonly kind: "failed"; readonly why: string };

async function reach(
  mount: Mount,
  { python: interpreter, workers, memoryMib, allow, hidden }: MountSettings,
  { workerEnded: onWorkerEnd, hostEnded: onHostEnd }: MountCounter,
  { onFault, onSources, signal }: OneContext,
): Promise<ReachedProvider> {
  if (mount.kind === "remote") {
    const opened = await openRemote(mount);
    return opened.kind === "failed" ? opened : { ...opened, locked: "" };
  }
  const python = await findPython(interpreter);
  if (python.kind === "missing") return { kind: "failed", why: python.why };
  const { target } = mount;
  const told = { onFault: (why: string) => onFault(mount.name, why), onWorkerEnd, onHostEnd, onSources, signal };
  // The interpreter is passed as the operator named it, because Python finds its virtual environment by the path that
  // starts it.
  const opened = await openLocal({ python: interpreter, target, workers, memoryMib, allow, hidden, ...told });
  return opened.kind === "failed" ? opened : { ...opened, locked: opened.provider.locked };
}

/** Examines levels for a limited time. The remaining levels are examined after the mount has begun to serve. */
async function beginTrials(
  mount: string,
  provider: Provider,
  environments: readonly Described[],
  { onProgress, onRefused, onFault, triedMs, known, background }: OneContext,
): Promise<Trials> {
  const beganMs = performance.now();
  let isBegun = false;
  const trials = createTrials({
    provider,
    environments,
    known,
    background,
    onTried: (done, total) => {
      if (!isBegun && performance.now() - beganMs > QUIET_MS) onProgress?.(mount, done, total);
    },
    onLate: ({ asked: { id } }, { name }, finding) => {
      for (const advice of adviceOf(finding)) onFault(mount, `${id}#${name}: ${advice}`);
      if (finding.kind === "unlawful") onRefused({ name: `${id}#${name}`, reason: finding.why });
      else if (finding.kind === "unavailable") onFault(mount, `${id}#${name} could not be examined: ${finding.why}`);
    },
  });
  const levels = environments.reduce((sum, each) => sum + each.levels.length, 0);
  await trials.begin(triedMs ?? (levels > LEVELS_MANY ? TRIED_MANY_MS : TRIED_MS));
  isBegun = true;
  return trials;
}

const adviceOf = (finding: Finding | undefined): readonly string[] =>
  finding?.kind === "lawful" ? (finding.advice ?? []) : [];

/** Divides the examined levels into levels to serve and levels to refuse. Also returns remarks for the operator. */
function sift(environments: readonly Described[], trials: Trials) {
  const refused: Refused[] = [];
  const served: Described[] = [];
  const remarks: string[] = [];
  for (const described of environments) {
    const { id } = described.asked;
    const levels = described.levels.filter((level) => {
      const finding = trials.found(described, level);
      remarks.push(...adviceOf(finding).map((advice) => `${id}#${level.name}: ${advice}`));
      if (finding === undefined || finding.kind === "lawful") return true;
      refused.push({ name: `${id}#${level.name}`, reason: finding.why });
      return false;
    });
    if (levels.length === 0) continue;
    served.push({ ...described, levels });
    remarks.push(...described.remarks.map((remark) => `${id}: ${remark}`));
  }
  return { served, refused, remarks };
}

/**
 * Returns the registry of environments with the mounted ones added. Returns an error text if two have the same id and
 * version.
 */
export function withMounts({ environments }: Registry, mounted: readonly Environment[]): Registry | string {
  const known = new Set(environments.map(({ id, version }) => `${id} version ${version}`));
  for (const { id, version } of mounted) {
    const key = `${id} version ${version}`;
    if (known.has(key))
      return `${key} is mounted, but another environment already has this id and version: change one of them`;
    known.add(key);
  }
  return createRegistry([...environments, ...mounted]);
}
