/** Opens what the operator mounts: starts hosts, reaches providers, and tries each level before it is served. */
import PQueue from "p-queue";
import type { Environment } from "../../../envs/environment.ts";
import { createRegistry, type Registry } from "../../../envs/registry.ts";
import { type Described, type DescribedLevel, readDescribed, type Refused } from "./described.ts";
import { mountedEnvironment } from "./environment.ts";
import { whyNotServed } from "./examine.ts";
import { openLocal } from "./local.ts";
import type { Provider } from "./provider.ts";
import { openRemote } from "./remote.ts";
import { findPython } from "../sandbox/python.ts";
import type { Mount, MountSettings } from "./settings.ts";

export interface MountContext {
  /** Told what was mounted, of what, and what of it is not served. */
  readonly onMount: (mounted: MountReport) => void;
  /** Told of each failure of a provider's. */
  readonly onFault: (mount: string, why: string) => void;
}

export interface MountReport {
  readonly name: string;
  /** What serves it, and how it is locked in. */
  readonly host: string;
  readonly environments: number;
  readonly levels: number;
  readonly refused: readonly Refused[];
  readonly remarks: readonly string[];
}

export interface Mounts {
  readonly environments: readonly Environment[];
  close(): Promise<void>;
}

export type OpenedMounts =
  | { readonly kind: "ok"; readonly mounts: Mounts }
  /** In words for the operator. */
  | { readonly kind: "invalid"; readonly message: string };

/** Levels that are tried at once. */
const TRIED_AT_ONCE = 8;
/** Of a mount, for each worker: so many answers of a frame, and as many that wait for it. */
const ANSWERS_PER_WORKER = 128;
const REMOTE_ANSWERS = 512;

export async function openMounts(settings: MountSettings, context: MountContext): Promise<OpenedMounts> {
  const opened = await Promise.all(settings.mounts.map((mount) => openOne(mount, settings, context)));
  const close = async (): Promise<void> => {
    for (const each of opened) if (each.kind === "opened") await each.provider.close();
  };
  const failed = opened.find((each) => each.kind === "failed");
  if (failed !== undefined) {
    await close();
    return { kind: "invalid", message: failed.message };
  }
  const environments = opened.flatMap((each) => (each.kind === "opened" ? each.environments : []));
  return { kind: "ok", mounts: { environments, close } };
}

type OpenedOne =
  | { readonly kind: "opened"; readonly provider: Provider; readonly environments: readonly Environment[] }
  | { readonly kind: "failed"; readonly message: string };

async function openOne(mount: Mount, settings: MountSettings, context: MountContext): Promise<OpenedOne> {
  const { name } = mount;
  const found = await reach(mount, settings, (why) => context.onFault(name, why));
  const failed = (why: string): OpenedOne => ({ kind: "failed", message: `${name} cannot be mounted: ${why}` });
  if (found.kind === "failed") return failed(found.why);
  const { provider, locked } = found;
  const read = readDescribed(provider.described);
  if (read.kind === "invalid") {
    await provider.close();
    return failed(read.why);
  }
  const refused = [...read.refused];
  const served: Described[] = [];
  for (const each of await triedAll(provider, read.environments)) {
    refused.push(...each.refused);
    if (each.described.levels.length > 0) served.push(each.described);
  }
  if (served.length === 0) {
    await provider.close();
    const why = refused.map(({ name: what, reason }) => `${what}: ${reason}`).join("; ");
    return failed(why === "" ? "it has no environments" : `nothing of it can be served: ${why}`);
  }
  const concurrency = mount.kind === "remote" ? REMOTE_ANSWERS : settings.workers * ANSWERS_PER_WORKER;
  context.onMount({
    name,
    host: [read.host, locked].filter((words) => words !== "").join(", "),
    environments: served.length,
    levels: served.reduce((sum, { levels }) => sum + levels.length, 0),
    refused,
    remarks: served.flatMap(({ asked, remarks }) => remarks.map((remark) => `${asked.id}: ${remark}`)),
  });
  const onBroken = (environment: string, _: string, why: string): void => context.onFault(environment, why);
  const environments = served.map((described) =>
    mountedEnvironment(described, { provider, concurrency, onBroken }),
  ) as readonly Environment[];
  return { kind: "opened", provider, environments };
}

type Reached =
  | { readonly kind: "opened"; readonly provider: Provider; readonly locked: string }
  | { readonly kind: "failed"; readonly why: string };

async function reach(
  mount: Mount,
  { python: interpreter, workers, memoryMib, allow }: MountSettings,
  onFault: (why: string) => void,
): Promise<Reached> {
  if (mount.kind === "remote") {
    const opened = await openRemote(mount);
    return opened.kind === "failed" ? opened : { ...opened, locked: "" };
  }
  const python = await findPython(interpreter);
  if (python.kind === "missing") return { kind: "failed", why: python.why };
  const { target } = mount;
  // By its name: a virtual environment's interpreter is one by the path that it is started by.
  const opened = await openLocal({ python: interpreter, target, workers, memoryMib, allow, onFault });
  return opened.kind === "failed" ? opened : { ...opened, locked: opened.provider.locked };
}

interface Tried {
  readonly described: Described;
  readonly refused: readonly Refused[];
}

/** Each environment with the levels of it that are served. */
async function triedAll(provider: Provider, environments: readonly Described[]): Promise<readonly Tried[]> {
  const queue = new PQueue({ concurrency: TRIED_AT_ONCE });
  const never = new AbortController().signal;
  const trying = environments.map(async (described): Promise<Tried> => {
    const found = await Promise.all(
      described.levels.map((level) => queue.add(() => whyNotServed(provider, described, level, never))),
    );
    const refused = described.levels.flatMap(({ name }, i) => {
      const reason = found[i];
      return reason === undefined ? [] : [{ name: `${described.asked.id}#${name}`, reason }];
    });
    const levels = described.levels.filter((_: DescribedLevel, i) => found[i] === undefined);
    return { described: { ...described, levels }, refused };
  });
  return Promise.all(trying);
}

/** What is here, with what is mounted; or what comes twice. */
export function withMounts({ environments }: Registry, mounts: Mounts): Registry | string {
  const known = new Set(environments.map(({ id, version }) => `${id} version ${version}`));
  for (const { id, version } of mounts.environments) {
    const key = `${id} version ${version}`;
    if (known.has(key)) return `${key} is mounted, and there is one already: give one of them another id or version`;
    known.add(key);
  }
  return createRegistry([...environments, ...mounts.environments]);
}
