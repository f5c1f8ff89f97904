/** Opens what the operator mounts: starts hosts, reaches providers, and tries each level before it is served. */
import type { Environment } from "../../../envs/environment.ts";
import { createRegistry, type Registry } from "../../../envs/registry.ts";
import { createMountCounter, type MountCounter, type MountFigures } from "./counts.ts";
import { type Described, readDescribed, type Refused } from "./described.ts";
import { mountedEnvironment } from "./environment.ts";
import { type Finding, ON_DESCRIBE } from "./examine.ts";
import { openLocal } from "./local-provider.ts";
import type { Provider } from "./provider.ts";
import { sourcesWithin } from "./reload.ts";
import { openRemote } from "./remote-provider.ts";
import { problemOf } from "./rules.ts";
import { findPython, withoutPackage } from "../sandbox/python.ts";
import type { Mount, MountSettings } from "./settings.ts";
import { createTrials, type Trials } from "./trials.ts";

export interface MountContext {
  /** Told what was mounted, of what, and what of it is not served. */
  readonly onMount: (mounted: MountReport) => void;
  /** Told of what was tried of a mount that takes a while. */
  readonly onProgress?: (mount: string, done: number, total: number) => void;
  /** Told of what is found out not to be served while the mount serves. */
  readonly onRefused: (refused: Refused) => void;
  /** Told of each failure of a provider's. */
  readonly onFault: (mount: string, why: string) => void;
}

export interface MountReport {
  readonly name: string;
  /** What serves it, and how it is locked in. */
  readonly host: string;
  readonly environments: number;
  readonly levels: number;
  /** Of these, levels that are still to be tried: each is before its first task is given. */
  readonly untried: number;
  readonly refused: readonly Refused[];
  readonly remarks: readonly string[];
}

export interface BeginContext extends MountContext {
  /**
   * Is handed all mounted environments as they will be, and says what keeps them from being served; undefined: nothing, and they
   * are.
   */
  readonly adopt: (environments: readonly Environment[]) => string | undefined;
}

export interface Mounts {
  /** Resolves when all are mounted; or to why one of them cannot be, in words for the operator. Never rejects. */
  readonly ready: Promise<string | undefined>;
  /** Names of those that are being mounted. */
  pending(): readonly string[];
  /** What is mounted now. */
  environments(): readonly Environment[];
  /** Mounts one again. If it cannot be mounted, or is what it was, what was served before goes on. */
  again(name: string): Promise<Remounted>;
  /**
   * Absolute paths of the Python files that a mount of this name was loaded from, and of those that its last attempt to load
   * named. They lie in the folder of the mounted file.
   */
  sources(name: string): readonly string[];
  readonly figures: () => readonly MountFigures[];
  close(): Promise<void>;
}

export type Remounted =
  | { readonly kind: "changed"; readonly before: readonly Environment[]; readonly now: readonly Environment[] }
  | { readonly kind: "same" }
  /** In words for the operator. */
  | { readonly kind: "kept"; readonly why: string };

export type OpenedMounts =
  | { readonly kind: "ok"; readonly mounts: Mounts }
  /** In words for the operator. */
  | { readonly kind: "invalid"; readonly message: string };

/** What levels are tried in before the mount serves; those that are left are tried while it does. */
const TRIED_MS = 30_000;
/** A mount that takes no longer shows no progress. */
const QUIET_MS = 2000;
/** Of a mount, for each worker: so many answers of a frame, and as many that wait for it. */
const ANSWERS_PER_WORKER = 128;
const REMOTE_ANSWERS = 512;

/** Opens all mounts, and resolves when they are ready, or one of them cannot be mounted. */
export async function openMounts(settings: MountSettings, context: MountContext): Promise<OpenedMounts> {
  const mounts = beginMounts(settings, { ...context, adopt: () => undefined });
  const message = await mounts.ready;
  if (message === undefined) return { kind: "ok", mounts };
  await mounts.close();
  return { kind: "invalid", message };
}

/**
 * Begins to open all mounts at once. Each of them is handed to `adopt` as soon as it is ready, so that a slow one keeps no
 * other back.
 */
export function beginMounts(settings: MountSettings, context: BeginContext): Mounts {
  const counters = new Map(settings.mounts.map(({ name }) => [name, createMountCounter(name)]));
  const sources = new Map<string, readonly string[]>();
  const mounted = new Map<string, OpenedMount>();
  const closing = new AbortController();
  const open = async (mount: Mount): Promise<OpenedOne> => {
    const { name } = mount;
    let told: readonly string[] = [];
    const { signal } = closing;
    const onSources = (paths: readonly string[]): void => void (told = paths);
    const opened = await openOne(mount, settings, counters.get(name) as MountCounter, {
      ...context,
      onSources,
      signal,
    });
    if (opened.kind === "opened" && signal.aborted) await opened.close();
    const before = opened.kind === "failed" ? (sources.get(name) ?? []) : [];
    sources.set(name, sourcesWithin(mount, [...told, ...before]));
    return opened;
  };
  // In the order of the options, whichever is ready first.
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
    // What waits for it is told that it is gone, and may be sent again.
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

/** `onSources` receives what the host says of its source files (HostReady.sources). */
type OneContext = MountContext & {
  readonly onSources: (paths: readonly string[]) => void;
  /** Aborted when nothing is to be mounted any more. */
  readonly signal: AbortSignal;
};

type OpenedOne = OpenedMount | { readonly kind: "failed"; readonly message: string };

async function openOne(
  mount: Mount,
  settings: MountSettings,
  counter: MountCounter,
  context: OneContext,
): Promise<OpenedOne> {
  const { name } = mount;
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
    return failed(why === "" ? "it has no environments" : `nothing of it can be served: ${why}`);
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
  const environments = served.map((described) =>
    mountedEnvironment(described, { mount: name, provider, concurrency, lawful: trials.of, onBroken }),
  ) as readonly Environment[];
  return { kind: "opened", environments, figures: () => counter.figures(trials.counts), close };
}

type Reached =
  | { readonly kind: "opened"; readonly provider: Provider; readonly locked: string }
  | { readonly kind: "failed"; readonly why: string };

async function reach(
  mount: Mount,
  { python: interpreter, workers, memoryMib, allow, hidden }: MountSettings,
  { workerEnded: onWorkerEnd, hostEnded: onHostEnd }: MountCounter,
  { onFault, onSources, signal }: OneContext,
): Promise<Reached> {
  if (mount.kind === "remote") {
    const opened = await openRemote(mount);
    return opened.kind === "failed" ? opened : { ...opened, locked: "" };
  }
  const python = await findPython(interpreter);
  if (python.kind === "missing") return { kind: "failed", why: python.why };
  const { target } = mount;
  // By its name: a virtual environment's interpreter is one by the path that it is started by.
  const told = { onFault: (why: string) => onFault(mount.name, why), onWorkerEnd, onHostEnd, onSources, signal };
  const opened = await openLocal({ python: interpreter, target, workers, memoryMib, allow, hidden, ...told });
  return opened.kind === "failed" ? opened : { ...opened, locked: opened.provider.locked };
}

/** Tries levels for as long as a start may take; the others are tried afterwards. */
async function beginTrials(
  mount: string,
  provider: Provider,
  environments: readonly Described[],
  { onProgress, onRefused, onFault }: MountContext,
): Promise<Trials> {
  const beganMs = performance.now();
  let isBegun = false;
  const trials = createTrials({
    provider,
    environments,
    onTried: (done, total) => {
      if (!isBegun && performance.now() - beganMs > QUIET_MS) onProgress?.(mount, done, total);
    },
    onLate: ({ asked: { id } }, { name }, finding) => {
      for (const advice of adviceOf(finding)) onFault(mount, `${id}#${name}: ${advice}`);
      if (finding.kind === "unlawful") onRefused({ name: `${id}#${name}`, reason: finding.why });
      else if (finding.kind === "unavailable") onFault(mount, `${id}#${name} could not be tried: ${finding.why}`);
    },
  });
  await trials.begin(TRIED_MS);
  isBegun = true;
  return trials;
}

const adviceOf = (finding: Finding | undefined): readonly string[] =>
  finding?.kind === "lawful" ? (finding.advice ?? []) : [];

/** Returns all levels but those that break a rule, and what the operator is to know of them. */
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

/** What is here, with what is mounted; or what comes twice. */
export function withMounts({ environments }: Registry, mounted: readonly Environment[]): Registry | string {
  const known = new Set(environments.map(({ id, version }) => `${id} version ${version}`));
  for (const { id, version } of mounted) {
    const key = `${id} version ${version}`;
    if (known.has(key)) return `${key} is mounted, and there is one already: give one of them another id or version`;
    known.add(key);
  }
  return createRegistry([...environments, ...mounted]);
}
