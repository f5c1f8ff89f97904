/**
 * Bundles the program, the module of each worker thread, and the libraries into a folder. Copies the files that are
 * read at run time beside them.
 */
import { build as bundle, type Metafile, type Plugin } from "esbuild";
import { cpSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import type { Build } from "../../server/runtime/version.ts";

const repository = resolve(import.meta.dirname, "../..");
const SOURCES = "{envs,pictures,server,cli}/**/*.ts";
/** Files that are read at run time: the sandbox's Python programs, rows of pools, and migrations of the database. */
const READ_AT_RUN_TIME = "{envs,server}/**/*.{py,jsonl,sql}";

/**
 * Libraries that are not bundled. The file server/transport/grpc/internals.ts imports files of grpc-js by path, and the
 * others read files of their own. `pg` imports `pg-native` only if it is installed, which it is not.
 */
const EXTERNAL = ["@grpc/grpc-js", "@grpc/reflection", "grpc-health-check", "piscina", "pg-native"];

/**
 * Returns the name of a source's bundle. All bundles lie in one folder, so that relative paths from them and from the
 * chunks that they share are the same.
 */
const outputOf = (source: string): string => source.replace(/\.ts$/, "").replaceAll("/", "-");

/** Matches an expression that starts a worker thread, e.g. `new URL("./worker.ts", import.meta.url)`. */
const THREAD = /new URL\("(\.[^"]*\.ts)", import\.meta\.url\)/g;

function threadModules(): readonly string[] {
  return globSync(SOURCES, { cwd: repository }).flatMap((source) =>
    [...readFileSync(join(repository, source), "utf8").matchAll(THREAD)].map(([, path = ""]) =>
      join(dirname(source), path),
    ),
  );
}

/** Returns a source's text with each worker thread started from its bundle in `folder`, a relative or absolute URL. */
export const withBundledThreads = (text: string, source: string, folder: string): string =>
  text.replaceAll(THREAD, (_, module: string) => {
    return `new URL("${folder}/${outputOf(join(dirname(source), module))}.js", import.meta["url"])`;
  });

/**
 * Replaces `import.meta.url` in sources. A bundled source then computes paths as if it still lay in its own folder,
 * beside the copied files.
 */
const whereFilesAre: Plugin = {
  name: "where files are",
  setup(build) {
    build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const source = relative(repository, path);
      const text = readFileSync(path, "utf8");
      if (source.startsWith("..") || !text.includes("import.meta.url")) return undefined;
      const contents = withBundledThreads(text, source, ".").replaceAll(
        "import.meta.url",
        `new URL("./${source}", import.meta["url"]).href`,
      );
      return { contents, loader: "ts" };
    });
  },
};

/**
 * Bundles the entries, which are named by their outputs, into the folder. `made` is the version and commit that the
 * program reports.
 */
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
    // Split the bundles into chunks, so that a command loads only the code that it needs.
    splitting: true,
    chunkNames: "[name]-[hash]",
    format: "esm",
    platform: "node",
    target: "node24",
    external: EXTERNAL,
    plugins: [whereFilesAre],
    define: { GRADUS_BUILD: JSON.stringify(made) },
    // Define `require`, which CommonJS libraries in the bundle need.
    banner: {
      js: 'import { createRequire as createRequireOfBundle } from "node:module"; const require = createRequireOfBundle(import.meta.url);',
    },
    // Write source maps, so that stack traces name our files and lines. The source text itself is in the repository.
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
