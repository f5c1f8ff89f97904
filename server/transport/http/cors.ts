/** Which web pages may call the HTTP port. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { cors } from "@connectrpc/connect";

const ownHeaders = ["authorization", "x-request-id"] as const;
const allowedHeaders = [...cors.allowedHeaders, ...ownHeaders].join(", ");
const exposedHeaders = [...cors.exposedHeaders, "retry-delay-ms"].join(", ");
const allowedMethods = cors.allowedMethods.join(", ");
/** The longest that browsers keep a preflight's answer. */
const maxAgeSeconds = 7200;

/** Sets the headers that let a page read the answer. True: the request was a preflight, and is answered. */
export function answerCors(origins: readonly string[], request: IncomingMessage, response: ServerResponse): boolean {
  const { origin } = request.headers;
  if (origins.length === 0 || origin === undefined) return false;
  response.setHeader("vary", "origin");
  if (!origins.includes("*") && !origins.includes(origin)) return false;
  response.setHeader("access-control-allow-origin", origins.includes("*") ? "*" : origin);
  response.setHeader("access-control-expose-headers", exposedHeaders);
  if (request.method !== "OPTIONS" || request.headers["access-control-request-method"] === undefined) return false;
  response.setHeader("access-control-allow-methods", allowedMethods);
  response.setHeader("access-control-allow-headers", allowedHeaders);
  response.setHeader("access-control-max-age", maxAgeSeconds);
  response.writeHead(204).end();
  return true;
}
