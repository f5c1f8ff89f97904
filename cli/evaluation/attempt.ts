/** One attempt at a completion: a request and the whole of its reply, as the OpenAI client's `fetch`. */
import { text } from "node:stream/consumers";
import { onOneLine } from "../../envs/lib/words.ts";
import { addressOf, headersOf, send } from "../../server/runtime/http-request.ts";

/** Longest piece of a reply that is shown. */
const SHOWN_MAX = 200;

/** On one line, without what a terminal would obey. */
export const oneLine = (words: string): string => onOneLine(words).slice(0, SHOWN_MAX);

/**
 * Reads the reply within the attempt, so that one that breaks off, stops in the middle or holds no completion is a
 * failure that passes, like a lost connection. `onTrouble` is told what went wrong; `cut` takes the key out of what is
 * said of that, and `cutWritten` out of a reply.
 */
export function createAttempt(
  timeoutMs: number,
  { cut, cutWritten }: Readonly<Record<"cut" | "cutWritten", (words: string) => string>>,
  onTrouble: (words: string) => void,
): typeof fetch {
  return async (input, init) => {
    try {
      const reply = await send(addressOf(input), init ?? {}, timeoutMs);
      const { statusCode: status = 0 } = reply;
      const body = (isOk(status) ? cutWritten : cut)(await text(reply));
      const trouble = troubleOf(status, body);
      if (trouble !== undefined && !isOk(status)) onTrouble(trouble);
      if (trouble !== undefined && isOk(status)) throw new Error(trouble);
      const shown = headersOf(reply);
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
