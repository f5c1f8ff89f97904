/** One bounded request with JSON both ways. */

export type Posted =
  | { readonly kind: "answer"; readonly json: unknown }
  | {
      readonly kind: "failed";
      readonly why: string;
      readonly timedOut: boolean;
      /** Whether trying again may help. */
      readonly again: boolean;
    };

export interface PostOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const ANSWER_BYTES_MAX = 16 * 1024 ** 2;
const TOO_MANY_REQUESTS = 429;
const SERVER_ERROR = 500;

/** Never rejects. */
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
    return { kind: "answer", json: JSON.parse(await readBounded(response)) };
  } catch (error) {
    const timedOut = signal.aborted || timeout.aborted;
    const why = timedOut ? `no whole answer within ${timeoutMs} ms` : wordsOf(error);
    return { kind: "failed", why, timedOut, again: true };
  }
}

async function readBounded(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += part.length;
    if (bytes > ANSWER_BYTES_MAX) throw new Error(`the answer has more than ${ANSWER_BYTES_MAX} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

/** Of a lost connection the innermost cause says the most. */
function wordsOf(error: unknown): string {
  let innermost = error;
  while (innermost instanceof Error && innermost.cause instanceof Error) innermost = innermost.cause;
  return innermost instanceof Error ? innermost.message.slice(0, 200) : String(innermost);
}
