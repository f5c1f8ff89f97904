/**
 * Serves the files of Gradus's web page on the HTTP port. They need no token, because they contain no data: the page
 * gets its data by calls. The files are read at the first request. Names of all files except the HTML document change
 * with the content.
 */
import { hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("../../../page/dist", import.meta.url));
const DOCUMENT = "index.html";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".woff2": "font/woff2",
};

/** Compressions in the order of preference, with the ending of the compressed file's name. */
const encodings = [
  ["br", ".br"],
  ["gzip", ".gz"],
] as const;

/** Content security policy: only scripts, styles and calls of the page's own origin, no inline code, and no frames. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const headers = {
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  vary: "accept-encoding",
};

/** Cache header of files whose name changes with their content. */
const FOR_EVER = "public, max-age=31536000, immutable";
/** Cache header of the HTML document: a browser must ask whether it has changed. */
const ASK_AGAIN = "no-cache";

interface PageFile {
  readonly type: string;
  readonly etag: string;
  readonly cacheControl: string;
  /** Bodies by compression. "" is the uncompressed body. */
  readonly bodies: ReadonlyMap<string, Buffer>;
}

export interface Page {
  /** Answers a request for a file of the page. Returns false if the path names none of these files. */
  answer(path: string, request: IncomingMessage, response: ServerResponse): boolean;
}

export const NOT_BUILT = "The page is not built: run 'make setup' in Gradus's folder, and start the server again.";

/** Creates the page. `folder` is the folder of its built files. */
export function createPage(folder: string = FOLDER): Page {
  let files: ReadonlyMap<string, PageFile> | undefined;
  return {
    answer: (path, request, response) => {
      if (path !== "/" && !path.startsWith("/assets/")) return false;
      files ??= filesIn(folder);
      const file = files.get(path);
      if (file !== undefined) answerFile(file, request, response);
      else if (path === "/")
        response.writeHead(404, { "content-type": "text/plain; charset=utf-8" }).end(`${NOT_BUILT}\n`);
      return file !== undefined || path === "/";
    },
  };
}

/** Reads the page's files. Returns them by path. */
function filesIn(folder: string): ReadonlyMap<string, PageFile> {
  const names = namesIn(folder);
  const isForm = (name: string): boolean => encodings.some(([, ending]) => name.endsWith(ending));
  return new Map(
    names
      .filter((name) => !isForm(name))
      .map((name) => [name === DOCUMENT ? "/" : `/${name}`, fileOf(folder, name, new Set(names))] as const),
  );
}

function namesIn(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) =>
        join(parentPath, name)
          .slice(folder.length + 1)
          .replaceAll("\\", "/"),
      );
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

function fileOf(folder: string, name: string, names: ReadonlySet<string>): PageFile {
  const forms = [["", ""] as const, ...encodings].filter(([, ending]) => names.has(name + ending));
  const bodies = new Map(forms.map(([encoding, ending]) => [encoding, readFileSync(join(folder, name + ending))]));
  return {
    type: types[extname(name)] ?? "application/octet-stream",
    etag: `"${hash("sha256", bodies.get("") ?? "", "base64url").slice(0, 16)}"`,
    cacheControl: name === DOCUMENT ? ASK_AGAIN : FOR_EVER,
    bodies,
  };
}

function answerFile(file: PageFile, { method, headers: asked }: IncomingMessage, response: ServerResponse): void {
  if (method !== "GET" && method !== "HEAD") {
    response.writeHead(405, { allow: "GET, HEAD" }).end();
    return;
  }
  const [encoding, body] = bodyFor(file, String(asked["accept-encoding"] ?? ""));
  // Each compression has its own ETag, because a cache stores a file separately for each.
  const etag = encoding === "" ? file.etag : file.etag.replace(/"$/, `-${encoding}"`);
  const all = { ...headers, etag, "cache-control": file.cacheControl, "content-type": file.type };
  if (asked["if-none-match"] === etag) {
    response.writeHead(304, all).end();
    return;
  }
  const length = { "content-length": body.length, ...(encoding !== "" && { "content-encoding": encoding }) };
  response.writeHead(200, { ...all, ...length }).end(method === "HEAD" ? undefined : body);
}

function bodyFor({ bodies }: PageFile, accepted: string): readonly [string, Buffer] {
  const asked = new Set(
    accepted
      .split(",")
      .map((part) => part.trim().toLowerCase())
      .filter((part) => !/;\s*q=0(\.0*)?$/.test(part))
      .map((part) => part.replace(/;.*$/, "").trim()),
  );
  for (const [encoding] of encodings) {
    const body = asked.has(encoding) ? bodies.get(encoding) : undefined;
    if (body !== undefined) return [encoding, body];
  }
  return ["", bodies.get("") ?? Buffer.alloc(0)];
}
