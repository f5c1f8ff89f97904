/** The page's files, as the HTTP port serves them. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { createPage, NOT_BUILT } from "../../../../server/transport/http/page.ts";
import { temporaryFolder } from "../../../support/server-process.ts";

/** Serves a folder; a path that the page does not have gets 404 "else". */
async function served(files: Readonly<Record<string, string | Buffer>>) {
  const folder = temporaryFolder();
  mkdirSync(join(folder.path, "assets"));
  for (const [name, body] of Object.entries(files)) writeFileSync(join(folder.path, name), body);
  const page = createPage(folder.path);
  const server = createServer((request, response) => {
    if (!page.answer(request.url ?? "", request, response)) response.writeHead(404).end("else");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    folder[Symbol.dispose]();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return (path: string, init?: RequestInit) => fetch(origin + path, init);
}

const script = "console.log('gradus');";

test("files are served with a strict policy, for ever where their names say what is in them, and compressed", async () => {
  const get = await served({
    "index.html": "<!doctype html>",
    "assets/a-1.js": script,
    "assets/a-1.js.br": brotliCompressSync(script),
  });
  const document = await get("/");
  expect(await document.text()).toBe("<!doctype html>");
  expect(document.headers.get("cache-control")).toBe("no-cache");
  const policy = document.headers.get("content-security-policy");
  expect(policy).toContain("default-src 'none'; script-src 'self'");
  expect(policy).not.toContain("unsafe");
  const etag = document.headers.get("etag") ?? "";
  expect((await get("/", { headers: { "if-none-match": etag } })).status).toBe(304);
  const asset = await get("/assets/a-1.js", { headers: { "accept-encoding": "gzip;q=1, br" } });
  expect(asset.headers.get("content-encoding")).toBe("br");
  expect(asset.headers.get("cache-control")).toContain("immutable");
  expect(await asset.text()).toBe(script);
  const plain = await get("/assets/a-1.js", { headers: { "accept-encoding": "br;q=0, identity" } });
  expect(plain.headers.get("content-encoding")).toBeNull();
  expect((await get("/", { method: "POST" })).status).toBe(405);
});

test("nothing but the page's own files is served", async () => {
  const get = await served({ "index.html": "x", "assets/a-1.js": script });
  for (const path of ["/assets/../index.html", "/assets/%2e%2e/x", "/assets/", "/index.html", "/assets/b.js"])
    expect(await (await get(path)).text(), path).toMatch(path.includes("..") ? /^(else|x)$/ : "else");
});

test("where it was not built, it says how", async () => {
  const get = await served({});
  const answer = await get("/");
  expect(answer.status).toBe(404);
  expect(await answer.text()).toBe(`${NOT_BUILT}\n`);
});
