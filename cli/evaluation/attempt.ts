/** One attempt at a completion: a request and the whole of its reply, as the OpenAI client's `fetch`. */
import { request as overHttp } from "node:http";
import type { IncomingMessage } from "node:http";
import { request as overHttps } from "node:https";
import { text } from "node:stream/consumers";
import { onOneLine } from "../../envs/lib/words.ts";

/** Longest piece of a reply that is shown. */
const SHOWN_MAX = 200;

/** On one line, without what a terminal would obey. */
export const oneLine = (words: string): string => onOneLine(words).slice(0, SHOWN_MAX);

/**
 * Reads the reply within the attempt, so that one that breaks off, stops in the middle or holds no completion is a
 * failure that passes, like a lost connection. By Node's own requests, for its `fetch` gives up after 300 s without a
 * byte, whatever it is told, and a long completion comes later; and they go to no other address. `onTrouble` is told what
 * went wrong; `cut` takes the key out of all that comes back.
 */
export function createAttempt(
  timeoutMs: number,
  cut: (words: string) => string,
  onTrouble: (words: string) => void,
): typeof fetch {
  return async (input, init) => {
    try {
      const reply = await send(new URL(input instanceof Request ? input.url : input), init ?? {});
      const body = cut(await text(reply));
      const { statusCode: status = 0, headers } = reply;
      const trouble = troubleOf(status, body);
      if (trouble !== undefined && !isOk(status)) onTrouble(trouble);
      if (trouble !== undefined && isOk(status)) throw new Error(trouble);
      const shown = new Headers(Object.entries(headers).map(([name, value = ""]) => [name, String(value)]));
      // It was read as JSON: some servers name another type, or none, and the client would take it for a text.
      if (isOk(status)) shown.set("content-type", "application/json");
      return new Response(body === "" ? null : body, { status, headers: shown });
    } catch (error) {
      const late = init?.signal?.aborted === true;
      onTrouble(late ? `no whole reply within ${timeoutMs / 1000} s` : cut(wordsOf(error)));
      throw error;
    }
  };
}

/** What Node says of a connection that ended in the middle of a reply. */
const BROKEN = "aborted";

function wordsOf(error: unknown): string {
  const { message = "", code = "no connection" } = error as NodeJS.ErrnoException;
  if (message === BROKEN) return "the reply broke off";
  // An address that is tried by both versions of IP fails without a message.
  return oneLine(message === "" ? code : message);
}

function send(url: URL, { method = "GET", headers, body, signal }: RequestInit): Promise<IncomingMessage> {
  const request = url.protocol === "https:" ? overHttps : overHttp;
  const options = { method, headers: Object.fromEntries(new Headers(headers)), ...(signal ? { signal } : {}) };
  return new Promise((resolve, reject) => {
    request(url, options, resolve)
      .once("error", reject)
      .end(body as string | undefined);
  });
}

const isOk = (status: number): boolean => status >= 200 && status < 300;

const isRedirect = (status: number): boolean => status >= 300 && status < 400;

function troubleOf(status: number, body: string): string | undefined {
  if (isRedirect(status)) return `${status}: it redirects, which is not followed, for the key would go along`;
  if (!isOk(status)) return oneLine(`${status} ${body}`);
  return isCompletion(body) ? undefined : oneLine(`the reply is no completion: ${body}`);
}

function isCompletion(body: string): boolean {
  try {
    const reply = JSON.parse(body) as { readonly choices?: readonly ({ readonly message?: unknown } | null)[] } | null;
    const message = reply?.choices?.[0]?.message;
    return typeof message === "object" && message !== null;
  } catch {
    return false;
  }
}
