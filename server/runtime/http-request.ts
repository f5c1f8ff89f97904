/**
 * Sends HTTP requests to models by Node's own http module, and follows no redirects. Node's `fetch` always gives up
 * after 300 s without a byte, and a long completion takes longer.
 */
import { type IncomingMessage, request as overHttp } from "node:http";
import { request as overHttps } from "node:https";
import { addAbortSignal } from "node:stream";
import { noteRequest } from "./model-requests.ts";

/**
 * Sends a request, and resolves when the reply begins. If `signal` aborts, the promise or the reading of the reply
 * rejects, as with `fetch`. `limitMs` is not enforced here but only shown to users (model-requests.ts); the caller's
 * signal enforces the limit.
 */
export function send(
  url: URL,
  { method = "GET", headers, body, signal }: RequestInit,
  limitMs: number,
): Promise<IncomingMessage> {
  const request = url.protocol === "https:" ? overHttps : overHttp;
  const options = { method, headers: Object.fromEntries(new Headers(headers)), ...(signal ? { signal } : {}) };
  return new Promise((resolve, reject) => {
    let replied = false;
    const sent = request(url, options, (reply) => {
      reply.once("end", () => (replied = true));
      resolve(signal ? addAbortSignal(signal, reply) : reply);
    });
    const noteEnd = noteRequest(url.origin, limitMs);
    sent.on("error", reject).on("close", () => noteEnd(replied));
    sent.end(body as string | undefined);
  });
}

export function headersOf({ headers }: Pick<IncomingMessage, "headers">): Headers {
  return new Headers(Object.entries(headers).map(([name, value = ""]) => [name, String(value)]));
}

export function addressOf(input: Parameters<typeof fetch>[0]): URL {
  return new URL(input instanceof Request ? input.url : input);
}
