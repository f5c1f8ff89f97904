/** Whether a run that is created again is the same run. */
import type { RunConfig } from "./types.ts";

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** The path of the first difference between two values of plain data; undefined: they are the same. */
function firstDifference(a: unknown, b: unknown, path: string): string | undefined {
  if (a === b) return undefined;
  if (!isPlain(a) || !isPlain(b) || Array.isArray(a) !== Array.isArray(b)) return path;
  if (Array.isArray(a) && Array.isArray(b) && a.length !== b.length) return path;
  for (const name of [...new Set([...Object.keys(a), ...Object.keys(b)])].sort()) {
    const step = Array.isArray(a) ? `${path}[${name}]` : path === "" ? name : `${path}.${name}`;
    const found = firstDifference(a[name], b[name], step);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A path as the contract names it. */
function contractName(path: string): string {
  return path
    .replace(/^lag.*/, "feedbackLag")
    .replace(/^policy\.(alpha|tau|epsilon|rule|signal)$/, "policy.bandit.$1")
    .replace(/rewardRange.*/, "spec.rewardScheme")
    .replace(/Ms$/, "")
    .replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * The first field, as the contract names it, in which two configurations differ; undefined: they mean the same. `extra`
 * does not count: it may say the same thing in another way, such as a default in full.
 */
export function differingField(a: RunConfig, b: RunConfig): string | undefined {
  const path = firstDifference({ ...a, extra: null }, { ...b, extra: null }, "");
  return path === undefined ? undefined : contractName(path);
}
