/** Where a CPU profile's time goes, by package and by file. */
import { readFileSync } from "node:fs";

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

export interface Share {
  readonly name: string;
  /** Of all time that was not idle, in [0, 1]. */
  readonly share: number;
}

export interface ProfileSummary {
  readonly packages: readonly Share[];
  readonly files: readonly Share[];
}

/** Reads a file that `node --cpu-prof` wrote. Self time: each sample counts for the function that was running. */
export function summarize(file: string): ProfileSummary {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, "utf8")) as CpuProfile;
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const packages = new Map<string, number>();
  const files = new Map<string, number>();
  samples.forEach((sample, index) => {
    const { functionName, url } = frames.get(sample) ?? { functionName: "(unknown)", url: "" };
    if (functionName === "(idle)") return;
    const time = timeDeltas[index] ?? 0;
    const { packageName, fileName } = placeOf(functionName, url);
    packages.set(packageName, (packages.get(packageName) ?? 0) + time);
    files.set(fileName, (files.get(fileName) ?? 0) + time);
  });
  return { packages: sharesOf(packages), files: sharesOf(files) };
}

function placeOf(functionName: string, url: string): { readonly packageName: string; readonly fileName: string } {
  if (functionName === "(garbage collector)") return same("garbage collection");
  if (url === "") return same(functionName === "(program)" ? "native code outside JavaScript" : "native functions");
  if (url.startsWith("node:")) return { packageName: "node", fileName: url };
  const installed = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(.*)$/.exec(url);
  if (installed !== null) return { packageName: installed[1] ?? "", fileName: `${installed[1]}/${installed[2]}` };
  const own = /\/((?:server|envs)\/.*)$/.exec(url)?.[1] ?? url;
  return { packageName: own.split("/").slice(0, 2).join("/"), fileName: own };
}

function same(name: string): { readonly packageName: string; readonly fileName: string } {
  return { packageName: name, fileName: name };
}

function sharesOf(times: ReadonlyMap<string, number>): readonly Share[] {
  const total = [...times.values()].reduce((sum, time) => sum + time, 0);
  const shares = [...times].map(([name, time]) => ({ name, share: time / total }));
  return shares.sort((a, b) => b.share - a.share);
}
