/**
 * Sends a prompt to a model behind an OpenAI-compatible chat endpoint, and reads the reply. The judge (compares texts)
 * and the teacher (proposes tasks) use it.
 */
import type OpenAI from "openai";
import { onOneLine } from "../../envs/lib/escape.ts";
import type { ChatMessage } from "../../envs/prompt.ts";
import { keyCutter, secretCutter } from "../runtime/secrets.ts";
import { addressOf, headersOf, send } from "../runtime/http-request.ts";
import { readBounded, wordsOf } from "./http-reply.ts";

export interface EndpointOptions {
  /** Base URL, e.g. "http://localhost:8000/v1". */
  readonly url: string;
  readonly model: string;
  /** API key. Undefined: requests have no Authorization header. */
  readonly key: string | undefined;
  /** Maximum time to wait for a whole reply, in milliseconds. */
  readonly timeoutMs: number;
  /** Sampling temperature. Undefined: requests name none, so the endpoint uses its default. */
  readonly temperature?: number;
  /** Returns headers to add to each request, e.g. for tracing. Defaults to none. */
  readonly headers?: () => Readonly<Record<string, string>>;
  /** Maximum output tokens of a reply, including a reasoning model's thoughts. Defaults to OUTPUT_TOKENS_MAX. */
  readonly outputTokensMax?: number;
}

/** Numbers of tokens that the endpoint counted in a request and its reply. */
export interface Tokens {
  readonly input: number;
  readonly output: number;
}

export type Reply =
  | {
      readonly kind: "reply";
      readonly text: string;
      /** Token counts. Undefined: the endpoint sent none. */
      readonly tokens: Tokens | undefined;
      /** Set if the endpoint says that the reply was cut at its maximum length. */
      readonly wasCut?: true;
    }
  | {
      readonly kind: "failed";
      readonly why: "timeout" | "status" | "connection";
      readonly message: string;
      readonly retryDelayMs?: number;
      /** HTTP status. Undefined if there was no HTTP response. */
      readonly status?: number;
    };

/** Sends one request, without retries. Never rejects: every error becomes a "failed" reply. */
export type AskModel = (prompt: readonly ChatMessage[], signal: AbortSignal) => Promise<Reply>;

/** Maximum bytes of a reply's body. A reply of OUTPUT_TOKENS_MAX tokens is much smaller. */
const BODY_BYTES_MAX = 1024 ** 2;
const OUTPUT_TOKENS_MAX = 8192;
const WORDS_MAX = 200;
/**
 * Maximum delay before a retry, in milliseconds. If the endpoint's Retry-After header asks for a longer delay, the
 * maximum is used.
 */
const RETRY_DELAY_MAX_MS = 60_000;

export function createEndpoint({ url, model, key, timeoutMs, ...options }: EndpointOptions): AskModel {
  const { temperature, outputTokensMax = OUTPUT_TOKENS_MAX, headers } = options;
  const [cut, cutWritten] = [secretCutter([key]), keyCutter(key)];
  // The OpenAI package is loaded only here, because loading it takes longer than a whole command that needs no model.
  const opened = openClient({ url, key, timeoutMs });
  return async (prompt, signal) => {
    const { client, sdk } = await opened;
    const messages = prompt.map(({ role, content }) => ({ role, content }));
    try {
      const reply = await client.chat.completions.create(
        { model, messages, max_tokens: outputTokensMax, ...(temperature !== undefined && { temperature }) },
        { signal, ...(headers && { headers: headers() }) },
      );
      const { message, finish_reason: finish } = firstChoice(reply);
      const text = cutWritten(textOf(message));
      return { kind: "reply", text, tokens: tokensOf(reply), ...(finish === "length" && { wasCut: true }) };
    } catch (error) {
      return failureOf(error, { aborted: signal.aborted, timeoutMs, cut, sdk });
    }
  };
}

type Sdk = Pick<typeof OpenAI, "APIError" | "APIConnectionTimeoutError">;

interface ChatClient {
  readonly client: OpenAI;
  readonly sdk: Sdk;
}

async function openClient({
  url,
  key,
  timeoutMs,
}: Pick<EndpointOptions, "url" | "key" | "timeoutMs">): Promise<ChatClient> {
  const { OpenAI: Client } = await import("openai");
  const client = new Client({
    baseURL: url,
    apiKey: key ?? "none",
    organization: null,
    project: null,
    ...(key === undefined && { defaultHeaders: { Authorization: null } }),
    maxRetries: 0,
    timeout: timeoutMs,
    logLevel: "off",
    fetch: fetchBounded(timeoutMs),
  });
  return { client, sdk: Client };
}

/**
 * Fetches a URL. Fails if the reply has more than BODY_BYTES_MAX bytes. Refuses redirects, because the API key is only
 * for the address that the operator gave.
 */
const fetchBounded =
  (timeoutMs: number): typeof fetch =>
  async (input, init) => {
    const reply = await send(addressOf(input), init ?? {}, timeoutMs);
    const { statusCode: status = 0 } = reply;
    if (status >= 300 && status < 400) {
      reply.destroy();
      const error = {
        message: `${status}: the endpoint redirects to another address, to which the API key is not sent: give that address as its URL`,
      };
      return Response.json({ error }, { status });
    }
    const body = new Uint8Array(await readBounded(reply, BODY_BYTES_MAX, "the reply"));
    return new Response(body.length === 0 ? null : body, { status, headers: headersOf(reply) });
  };

/**
 * Returns the first entry of `choices` in a reply, or an empty object. The endpoint's JSON is untrusted: any field may
 * be missing or of another type.
 */
function firstChoice(reply: unknown): Readonly<Record<string, unknown>> {
  const { choices } = (reply ?? {}) as { readonly choices?: unknown };
  return ((Array.isArray(choices) ? choices[0] : undefined) ?? {}) as Readonly<Record<string, unknown>>;
}

function textOf(message: unknown): string {
  const { content } = (message ?? {}) as { readonly content?: unknown };
  return typeof content === "string" ? content : "";
}

function tokensOf(reply: unknown): Tokens | undefined {
  const { usage } = (reply ?? {}) as { readonly usage?: unknown };
  const { prompt_tokens: input, completion_tokens: output } = (usage ?? {}) as Readonly<Record<string, unknown>>;
  return isCount(input) && isCount(output) ? { input, output } : undefined;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

interface FailureContext {
  readonly aborted: boolean;
  readonly timeoutMs: number;
  readonly cut: (words: string) => string;
  readonly sdk: Sdk;
}

function failureOf(error: unknown, { aborted, timeoutMs, cut, sdk }: FailureContext): Reply {
  const { APIError, APIConnectionTimeoutError } = sdk;
  if (aborted || error instanceof APIConnectionTimeoutError)
    return { kind: "failed", why: "timeout", message: `no complete reply within ${timeoutMs} ms` };
  const message = onOneLine(cut(wordsOf(error))).slice(0, WORDS_MAX);
  const status = error instanceof APIError ? (error.status as number | undefined) : undefined;
  if (!(error instanceof APIError) || status === undefined) return { kind: "failed", why: "connection", message };
  const retryDelayMs = retryDelayOf((error.headers as Headers | undefined)?.get("retry-after"));
  return { kind: "failed", why: "status", message, status, ...(retryDelayMs !== undefined && { retryDelayMs }) };
}

/** Returns the delay in milliseconds from a Retry-After header, which gives seconds or a date. */
function retryDelayOf(given: string | null | undefined): number | undefined {
  if (given === null || given === undefined || given === "") return undefined;
  const ms = /^\d+(\.\d+)?$/.test(given) ? Number(given) * 1000 : Date.parse(given) - Date.now();
  return Number.isFinite(ms) ? Math.min(RETRY_DELAY_MAX_MS, Math.max(1, Math.round(ms))) : undefined;
}
