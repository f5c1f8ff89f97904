/** Builds the page into page/dist: files that the HTTP port serves as they are, named by their content. */
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, gzip } from "node:zlib";
import { defineConfig, type Plugin } from "vite";

const brotli = promisify(brotliCompress);
const zip = promisify<Uint8Array, { readonly level: number }, Uint8Array>(gzip);

/** Each file once more as browsers take it, so that no server compresses the same again and again. */
function compressed(): Plugin {
  return {
    name: "compressed",
    apply: "build",
    // Of what lies there when all else is done.
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

export default defineConfig({
  root: import.meta.dirname,
  // Wherever a proxy puts it.
  base: "./",
  plugins: [compressed()],
  worker: { format: "es" },
  build: {
    outDir: "dist",
    emptyOutDir: true,
    target: "es2022",
    // A policy that allows the page's own files alone refuses what is written into it.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
