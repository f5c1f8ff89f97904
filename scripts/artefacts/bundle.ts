/** Bundles the program, each thread's module and the libraries into a folder, with the files that are read at run time. */
import { build as bundle, type Metafile, type Plugin } from "esbuild";
import { cpSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import type { Build } from "../../server/runtime/version.ts";

const repository = resolve(import.meta.dirname, "../..");
const SOURCES = "{envs,pictures,server,cli}/**/*.ts";
/** Programs of the sandbox, rows of pools, migrations. */
const READ_AT_RUN_TIME = "{envs,server}/**/*.{py,jsonl,sql}";

/**
 * Not bundled: what server/transport/grpc/internals.ts reaches into the files of, and what reads files of its own. `pg` asks
 * for the last where it is installed, which it is not.
 */
const EXTERNAL = ["@grpc/grpc-js", "@grpc/reflection", "grpc-health-check", "piscina", "pg-native"];

/**
 * Returns a bundle's name in the one folder of all bundles, so that shared files lie as deep as the files that share
 * them.
 */
const outputOf = (source: string): string => source.replace(/\.ts$/, "").replaceAll("/", "-");

/** Matches the module of a thread, e.g. `new URL("./worker.ts", import.meta.url)`. */
const THREAD = /new URL\("(\.[^"]*\.ts)", import\.meta\.url\)/g;

function threadModules(): readonly string[] {
  return globSync(SOURCES, { cwd: repository }).flatMap((source) =>
    [...readFileSync(join(repository, source), "utf8").matchAll(THREAD)].map(([, path = ""]) =>
      join(dirname(source), path),
    ),
  );
}

/** A source that asks where it is gets told where it would be beside the bundle, as what it reads is. */
const whereFilesAre: Plugin = {
  name: "where files are",
  setup(build) {
    build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const source = relative(repository, path);
      const text = readFileSync(path, "utf8");
      if (source.startsWith("..") || !text.includes("import.meta.url")) return undefined;
      const contents = text
        .replaceAll(THREAD, (_, module: string) => {
          return `new URL("./${outputOf(join(dirname(source), module))}.js", import.meta["url"])`;
        })
        .replaceAll("import.meta.url", `new URL("./${source}", import.meta["url"]).href`);
      return { contents, loader: "ts" };
    });
  },
};

/** Bundles the entries, named by their outputs, into the folder; `made` is what the program says of itself. */
export async function bundleProgram(
  folder: string,
  entries: Readonly<Record<string, string>>,
  made: Build,
): Promise<Metafile> {
  const threads = Object.fromEntries(threadModules().map((module) => [outputOf(module), module]));
  const { metafile } = await bundle({
    absWorkingDir: repository,
    entryPoints: { ...entries, ...threads },
    outdir: folder,
    bundle: true,
    // Splitting lets a command load only the code that it needs.
    splitting: true,
    chunkNames: "[name]-[hash]",
    format: "esm",
    platform: "node",
    target: "node24",
    external: EXTERNAL,
    plugins: [whereFilesAre],
    define: { GRADUS_BUILD: JSON.stringify(made) },
    // CommonJS libraries in the bundle need `require`.
    banner: {
      js: 'import { createRequire as createRequireOfBundle } from "node:module"; const require = createRequireOfBundle(import.meta.url);',
    },
    // Stack traces name our files and lines; the text itself is in the repository.
    sourcemap: true,
    sourcesContent: false,
    legalComments: "none",
    logLevel: "warning",
    metafile: true,
  });
  for (const file of globSync(READ_AT_RUN_TIME, { cwd: repository }))
    cpSync(join(repository, file), join(folder, file));
  return metafile;
}
