/** Builds the page into page/dist. The HTTP port serves the files unchanged. Their names contain a digest of their content. */
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, gzip } from "node:zlib";
import { defineConfig, type Plugin } from "vite";

const brotli = promisify(brotliCompress);
const zip = promisify<Uint8Array, { readonly level: number }, Uint8Array>(gzip);

/** Writes each file also compressed by brotli and gzip, so that no server compresses it for each request. */
function compressed(): Plugin {
  return {
    name: "compressed",
    apply: "build",
    // All files of the build exist at this point.
    async writeBundle({ dir = "" }, bundle) {
      const write = async (fileName: string, ending: string, form: Promise<Uint8Array>) =>
        writeFile(join(dir, `${fileName}${ending}`), await form);
      await Promise.all(
        Object.keys(bundle).flatMap((fileName) => {
          const source = readFileSync(join(dir, fileName));
          return [write(fileName, ".br", brotli(source)), write(fileName, ".gz", zip(source, { level: 9 }))];
        }),
      );
    },
  };
}

/**
 * Builds the worker among the page's files, so that both load the contract from one file. Vite's own bundle of a worker
 * has all that it imports once more.
 */
function workerBesidePage(): Plugin {
  const place = 'new URL("./watch-worker.ts", import.meta.url)';
  return {
    name: "worker-beside-page",
    apply: "build",
    enforce: "pre",
    transform: {
      filter: { id: /\/watch\.ts$/ },
      handler(code) {
        if (!code.includes(place)) throw new Error(`page/src/runs/watch.ts must name the worker by ${place}`);
        const worker = this.emitFile({ type: "chunk", id: "src/runs/watch-worker.ts" });
        return code.replace(place, `import.meta.ROLLUP_FILE_URL_${worker}`);
      },
    },
  };
}

/** Adds a small script of its own to the document, which runs before the page's code is loaded. */
function firstSight(): Plugin {
  return {
    name: "first-sight",
    apply: "build",
    buildStart() {
      this.emitFile({ type: "chunk", id: "src/first-sight.ts" });
    },
    transformIndexHtml: {
      order: "post",
      handler: (_, { bundle = {} }) => {
        const file = Object.values(bundle).find((each) => each.type === "chunk" && each.name === "first-sight");
        if (file === undefined) throw new Error("the build has no script first-sight");
        const attrs = { type: "module", src: `./${file.fileName}`, fetchpriority: "high" };
        return [{ tag: "script", attrs, injectTo: "head-prepend" }];
      },
    },
  };
}

/** Writes the contract's descriptors as bytes in place of Base64, of which brotli finds fewer repetitions: 5 KB less. */
function plainDescriptors(): Plugin {
  return {
    name: "plain-descriptors",
    apply: "build",
    transform: {
      filter: { id: /_pb\.js$/ },
      handler: (code) =>
        code.replace(/fileDesc\("([\w+/=]+)"/, (_, base64: string) => `fileDesc(btoa(${JSON.stringify(atob(base64))})`),
    },
  };
}

export default defineConfig({
  root: import.meta.dirname,
  // Relative, so that a proxy may serve the page under any path.
  base: "./",
  plugins: [firstSight(), workerBesidePage(), plainDescriptors(), compressed()],
  build: {
    outDir: "dist",
    emptyOutDir: true,
    target: "es2022",
    // The content security policy allows only files of the page, and refuses assets inlined into its HTML.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
