/** Builds the page into page/dist: files that the HTTP port serves as they are, named by their content. */
import { defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  // Wherever a proxy puts it.
  base: "./",
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
