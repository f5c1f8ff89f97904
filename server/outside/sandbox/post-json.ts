/**
 * Sends an HTTP request with a JSON body, and reads a JSON reply of limited size. Used for sandboxes on other machines.
 */
import { readBounded, wordsOf } from "../http-reply.ts";

export type Posted =
  | { readonly kind: "answer"; readonly json: unknown }
  | {
      readonly kind: "failed";
      readonly why: string;
      readonly timedOut: boolean;
      /** Whether sending the request again may succeed. */
      readonly again: boolean;
    };

export interface PostOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const ANSWER_BYTES_MAX = 16 * 1024 ** 2;
const WORDS_MAX = 200;
const TOO_MANY_REQUESTS = 429;
const SERVER_ERROR = 500;

/** Posts a JSON body to a URL, and returns the parsed reply or the failure. Never rejects. */
export async function postJson(
  url: string,
  body: unknown,
  { signal, timeoutMs, headers }: PostOptions,
): Promise<Posted> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.any([signal, timeout]),
      redirect: "error",
    });
    const { status } = response;
    if (status !== 200) {
      await response.body?.cancel();
      const again = status >= SERVER_ERROR || status === TOO_MANY_REQUESTS;
      return { kind: "failed", why: `it answered with HTTP status ${status}`, timedOut: false, again };
    }
    const answer = await readBounded(response.body ?? [], ANSWER_BYTES_MAX, "the answer");
    return { kind: "answer", json: JSON.parse(answer.toString()) };
  } catch (error) {
    const timedOut = signal.aborted || timeout.aborted;
    const why = timedOut ? `no complete answer within ${timeoutMs} ms` : wordsOf(error).slice(0, WORDS_MAX);
    return { kind: "failed", why, timedOut, again: true };
  }
}
