/** Builds the page into page/dist: files that the HTTP port serves as they are, named by their content. */
import { promisify } from "node:util";
import { brotliCompress, gzip } from "node:zlib";
import { defineConfig, type Plugin } from "vite";

const brotli = promisify(brotliCompress);
const zip = promisify<string | Uint8Array, { readonly level: number }, Uint8Array>(gzip);

/** Each file once more as browsers take it, so that no server compresses the same again and again. */
function compressed(): Plugin {
  return {
    name: "compressed",
    apply: "build",
    enforce: "post",
    async generateBundle(_, bundle) {
      const emit = async (fileName: string, source: Promise<Uint8Array>) =>
        this.emitFile({ type: "asset", fileName, source: await source });
      await Promise.all(
        Object.entries(bundle).flatMap(([fileName, file]) => {
          const source = file.type === "chunk" ? file.code : file.source;
          return [emit(`${fileName}.br`, brotli(source)), emit(`${fileName}.gz`, zip(source, { level: 9 }))];
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
