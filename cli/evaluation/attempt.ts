/** Makes a `fetch` for the OpenAI client. It makes one attempt to get a completion, and reads the whole reply. */
import { text } from "node:stream/consumers";
import { onOneLine } from "../../envs/lib/escape.ts";
import { addressOf, headersOf, send } from "../../server/runtime/http-request.ts";

/** Maximum length, in characters, of a quotation from an endpoint's reply in a message. */
const SHOWN_MAX = 200;

/** Returns the beginning of a text on one line, without control characters. */
export const oneLine = (words: string): string => onOneLine(words).slice(0, SHOWN_MAX);

/**
 * Makes a fetch that reads the whole reply within the attempt. A reply that breaks off, stalls or holds no completion
 * is therefore a temporary failure, like a lost connection. `onTrouble` receives each failure. `cut` removes the API
 * key from error texts, and `cutWritten` from completions.
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
      // Set the content type, because the body was already read as JSON. Some servers give another type or none, and
      // the client would then take the body for text.
      if (isOk(status)) shown.set("content-type", "application/json");
      return new Response(body === "" ? null : body, { status, headers: shown });
    } catch (error) {
      const late = init?.signal?.aborted === true;
      onTrouble(late ? `no complete reply within ${timeoutMs / 1000} s` : cut(wordsOf(error)));
      throw error;
    }
  };
}

/** Message that Node gives for a connection that ended during a reply. */
const BROKEN = "aborted";

function wordsOf(error: unknown): string {
  const { message = "", code = "no connection" } = error as NodeJS.ErrnoException;
  if (message === BROKEN) return "the reply was cut off";
  // Use the error's code if it has no message, e.g. because connecting failed over both IPv4 and IPv6.
  return oneLine(message === "" ? code : message);
}

const isOk = (status: number): boolean => status >= 200 && status < 300;

const isRedirect = (status: number): boolean => status >= 300 && status < 400;

function troubleOf(status: number, body: string): string | undefined {
  if (isRedirect(status))
    return `${status}: the endpoint redirects to another address, to which the key is not sent: give that address`;
  if (!isOk(status)) return oneLine(`${status} ${body}`);
  return isCompletion(body) ? undefined : oneLine(`the reply is not a completion: ${body}`);
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
