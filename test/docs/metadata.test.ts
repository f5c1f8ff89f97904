/** The documents name no metadata that no environment has. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { cases, issue } from "../envs/every.ts";

const docs = resolve(import.meta.dirname, "../../docs");
const texts = readdirSync(docs, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".md"))
  .map((path) => readFileSync(join(docs, path), "utf8"));

test("each metadata:NAME is a number that some environment says of its instances", () => {
  const named = new Set(texts.flatMap((text) => [...text.matchAll(/`metadata:([a-z_]+)`/g)].map(([, name]) => name)));
  const numbers = new Set(
    cases.flatMap((given) => {
      const { instance } = issue(given, 1n, "eval");
      const found = Object.entries(given.environment.metadata(instance));
      return found.filter(([, value]) => value !== "" && Number.isFinite(Number(value))).map(([name]) => name);
    }),
  );
  expect(named.size).toBeGreaterThan(0);
  for (const name of named) expect([...numbers]).toContain(name);
});
