/** The package as it would be published: packed, unpacked elsewhere, and used from there. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { build } from "vite";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const source = join(root, "clients/ts");
const home = mkdtempSync(join(tmpdir(), "gradus-package-"));
const unpacked = join(home, "node_modules/@gradus/client");
let packed: readonly { readonly path: string }[] = [];

const run = (command: string, ...args: readonly string[]): string =>
  execFileSync(command, args, { cwd: home, encoding: "utf8" });

beforeAll(() => {
  const report = execFileSync("npm", ["pack", "--json", "--silent", "--pack-destination", home], {
    cwd: source,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  // npm reports an array, or from version 12 on an object by package.
  const parsed = JSON.parse(report.slice(report.search(/^[[{]/m))) as Record<string, unknown>;
  const [{ filename, files }] = Object.values(parsed) as [{ filename: string; files: typeof packed }];
  packed = files;
  mkdirSync(unpacked, { recursive: true });
  run("tar", "-xzf", join(home, filename), "-C", unpacked, "--strip-components=1");
  const { dependencies } = JSON.parse(readFileSync(join(unpacked, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  for (const name of Object.keys(dependencies)) {
    mkdirSync(join(home, "node_modules", name, ".."), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(home, "node_modules", name));
  }
  writeFileSync(join(home, "package.json"), JSON.stringify({ type: "module" }));
});
afterAll(() => rmSync(home, { recursive: true }));

/** Returns this Node and the Nodes of other versions on the path that are new enough, with their versions. */
function nodes(): readonly (readonly [string, string])[] {
  const onPath = execFileSync("which", ["-a", "node"], { encoding: "utf8" }).trim().split("\n");
  const versionOf = (node: string): string => execFileSync(node, ["--version"], { encoding: "utf8" }).trim();
  const byVersion = new Map([...onPath, process.execPath].map((node) => [versionOf(node), node] as const));
  return [...byVersion].filter(([version]) => Number(version.slice(1).split(".")[0]) >= 20);
}

test("holds what it runs with and nothing else", () => {
  const paths = packed.map(({ path }) => path);
  expect(paths).toEqual(
    expect.arrayContaining(["README.md", "LICENSE", "package.json", "dist/index.js", "dist/web.d.ts"]),
  );
  expect(paths.filter((path) => !/^(dist\/.*\.(js|d\.ts)|README\.md|LICENSE|package\.json)$/.test(path))).toEqual([]);
});

test("its generated code holds the public contract alone, and no file imports from outside of the package", () => {
  const script = `
    import { readdirSync, readFileSync } from "node:fs";
    import { resolve } from "node:path";
    const dist = "node_modules/@gradus/client/dist";
    const files = readdirSync(dist, { recursive: true }).filter((name) => name.endsWith(".js") || name.endsWith(".d.ts"));
    const contracts = [];
    for (const file of files.filter((name) => name.endsWith("_pb.js"))) {
      for (const value of Object.values(await import(resolve(dist, file)))) {
        if (value.kind === "file") contracts.push(...[value, ...value.dependencies].map(({ proto }) => proto.package));
      }
    }
    const outside = files.filter((file) => /"[./]*\\.\\.\\/(proto|server|clients)\\//.test(readFileSync(resolve(dist, file), "utf8")));
    const internal = files.filter((file) => /gradus[./]internal|gen.google/.test(file + readFileSync(resolve(dist, file), "utf8")));
    console.log(JSON.stringify({ contracts: [...new Set(contracts)].sort(), outside, internal }));
  `;
  expect(JSON.parse(run(process.execPath, "--input-type=module", "--eval", script))).toEqual({
    contracts: ["google.protobuf", "gradus.v1"],
    outside: [],
    internal: [],
  });
});

test.each(nodes())("both entries load and fail as they should in Node %s", (_version, node) => {
  const script = `
    import { createClient, rewardOf, Split } from "@gradus/client";
    import * as web from "@gradus/client/web";
    const codes = [];
    const once = { retry: false };
    for (const client of [createClient("127.0.0.1:1", once), web.createClient("http://127.0.0.1:1", once)]) {
      await client.listEnvironments().catch(({ name, code }) => codes.push(name, code));
      client.close();
    }
    console.log(JSON.stringify([codes, typeof rewardOf, Split.EVAL]));
  `;
  expect(JSON.parse(run(node, "--input-type=module", "--eval", script))).toEqual([
    ["GradusError", "UNAVAILABLE", "GradusError", "UNAVAILABLE"],
    "function",
    2,
  ]);
});

/**
 * How projects find the types of what they import: by Node's rules, by a bundler's (also those of "preserve"), and by the
 * oldest (node10), which does not read `exports`.
 */
const resolutions = [
  { module: "nodenext" },
  { module: "esnext", moduleResolution: "bundler" },
  { module: "esnext", moduleResolution: "node10", ignoreDeprecations: "6.0" },
] as const;

test.each(resolutions)("its types hold in a strict project of its own, with %o", (resolution) => {
  const program = `
    import { createClient, type Outcome, type GradusError } from "@gradus/client";
    import { createClient as createWebClient } from "@gradus/client/web";
    const clients = [createClient("a:1", { tls: true }), createWebClient("http://a")];
    export async function first(): Promise<Outcome | GradusError | undefined> {
      const [client] = clients;
      const task = await client?.reset({ environment: "countdown", seed: 1n });
      if (client === undefined || task === undefined) return undefined;
      for await (const result of client.streamSteps([{ task, completions: ["a"], mine: 1 }])) {
        const mine: number = result.group.mine;
        return result.kind === "scored" ? result.outcome.outcomes[mine] : result.error;
      }
      return undefined;
    }
    // @ts-expect-error a level is a name
    export const wrong = clients[0]?.reset({ environment: "countdown", level: 3, seed: 1 });
  `;
  writeFileSync(join(home, "program.ts"), program);
  const lib = { target: "es2022", lib: ["es2022", "dom"], types: [], skipDefaultLibCheck: true };
  expect(problemsOf({ strict: true, noEmit: true, ...lib, ...resolution })).toBe("");
});

/** TypeScript's own declarations, which are read once for all resolutions. */
const libraries = new Map<string, ts.SourceFile | undefined>();

/** Returns what the compiler says of program.ts with these options of a tsconfig.json. */
function problemsOf(json: object): string {
  const { options, errors } = ts.convertCompilerOptionsFromJson(json, home);
  expect(errors).toEqual([]);
  const host = ts.createCompilerHost(options);
  const getSourceFile: ts.CompilerHost["getSourceFile"] = (name, ...how) => {
    if (!/typescript\/lib\/lib\./.test(name)) return read(name, ...how);
    if (!libraries.has(name)) libraries.set(name, read(name, ...how));
    return libraries.get(name);
  };
  const read = host.getSourceFile.bind(host);
  const program = ts.createProgram([join(home, "program.ts")], options, { ...host, getSourceFile });
  return ts.formatDiagnostics(ts.getPreEmitDiagnostics(program), host);
}

test("the web entry bundles for browsers, without Node's modules and grpc-js", async () => {
  writeFileSync(join(home, "page.js"), 'export { createClient } from "@gradus/client/web";');
  const lib = { entry: join(home, "page.js"), formats: ["es" as const], fileName: "page" };
  const built = await build({ root: home, configFile: false, logLevel: "silent", build: { lib, write: false } });
  const [bundle] = [built].flat();
  if (bundle === undefined || !("output" in bundle)) throw new Error("vite gave no bundle");
  const modules = bundle.output.flatMap((output) => ("moduleIds" in output ? output.moduleIds : []));
  expect(modules.length).toBeGreaterThan(10);
  expect(modules.filter((id) => id.includes("grpc-js") || id.includes("__vite-browser-external"))).toEqual([]);
});
