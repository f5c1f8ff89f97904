/** Asks a model behind an OpenAI-compatible chat endpoint. */
import { setTimeout as after } from "node:timers/promises";
import OpenAI, { APIError } from "openai";
import type { Tool } from "../../clients/ts/src/public.ts";
import { keyCutter, secretCutter } from "../../server/runtime/secrets.ts";
import { createAttempt, oneLine } from "./attempt.ts";
import { readReply, type Written } from "./reply.ts";

export interface EndpointOptions {
  /** Base URL, e.g. "http://localhost:8000/v1". */
  readonly endpoint: string;
  readonly model: string;
  /** API key. If undefined, requests have no Authorization header. */
  readonly apiKey: string | undefined;
  /** Maximum duration of one attempt, in milliseconds. */
  readonly timeoutMs: number;
  /** Maximum duration of a completion with all its retries and delays, in milliseconds. */
  readonly deadlineMs: number;
  /** Additional fields of each request, e.g. temperature. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Aborts every request in progress. */
  readonly signal: AbortSignal;
  /** Receives a message for each failed attempt. */
  readonly onTrouble: (words: string) => void;
}

export type Completed =
  | ({ readonly kind: "completion" } & Written)
  /** Outcome if the conversation is longer than the model's context. */
  | { readonly kind: "full"; readonly message: string }
  /** Outcome without a completion: there was none before the deadline, or the endpoint refused this prompt. */
  | { readonly kind: "failed"; readonly message: string }
  /** Outcome if the endpoint refuses all prompts, because its address, the key or the model is wrong. */
  | { readonly kind: "refused"; readonly message: string };

/** Message of a conversation in OpenAI's form. */
export type Spoken = OpenAI.ChatCompletionMessageParam;

/** Completes a conversation. `tools` are offered in the endpoint's own field for tools. */
export type Model = (conversation: readonly Spoken[], tools: readonly Tool[]) => Promise<Completed>;

/**
 * Maximum number of retries, enough for any deadline. Delays grow to 8 s, or are what the endpoint asks for (up to 60
 * s).
 */
const RETRIES_MAX = 100_000;

/** Maximum number of empty replies to one prompt. At a temperature of 0, every further reply might be empty too. */
const EMPTY_MAX = 4;
const EMPTY_DELAY_MS = 250;

const REFUSALS: ReadonlySet<number | undefined> = new Set([401, 403, 404]);

/**
 * Makes a model that retries after temporary failures: no connection, timeouts, 408, 409, 429, 5xx, and replies that
 * break off or hold no completion. Empty replies are retried a few times.
 */
export function createModel(options: EndpointOptions): Model {
  const { endpoint, model, apiKey, timeoutMs, deadlineMs, body, signal, onTrouble } = options;
  const shared = new OpenAI({
    baseURL: endpoint,
    apiKey: apiKey ?? "none",
    ...(apiKey === undefined && { defaultHeaders: { Authorization: null } }),
    maxRetries: RETRIES_MAX,
    timeout: timeoutMs,
    logLevel: "off",
  });
  const [cut, cutWritten] = [secretCutter([apiKey]), keyCutter(apiKey)];
  return async (conversation, tools) => {
    const ended = new AbortController();
    const ending = AbortSignal.any([ended.signal, signal]);
    let last = "";
    const note = (words: string): void => {
      // Report no failure for an aborted attempt.
      if (ending.aborted) return;
      last = words;
      onTrouble(words);
    };
    const client = shared.withOptions({ fetch: createAttempt(timeoutMs, { cut, cutWritten }, note) });
    const given = tools.length > 0 ? { tools: tools.map(toolOf) } : {};
    const request: OpenAI.ChatCompletionCreateParamsNonStreaming = {
      ...body,
      model,
      messages: [...conversation],
      ...given,
    };
    const ask = async (): Promise<Completed> => {
      for (let tries = 1; ; tries++) {
        const reply = readReply(await client.chat.completions.create(request, { signal: ending }));
        if (reply.kind === "completion") return reply;
        note(reply.message);
        if (tries >= EMPTY_MAX) return { kind: "failed", message: `${reply.message}, ${tries} times` };
        await after(EMPTY_DELAY_MS * 2 ** tries, undefined, { signal: ending });
      }
    };
    try {
      const late = after(deadlineMs, undefined, { signal: ending }).then(() => undefined);
      const completed = await Promise.race([ask(), late]);
      // Return without waiting for the call, which ends with an error when it is aborted. The race has already handled
      // that error.
      if (completed === undefined) return { kind: "failed", message: lateWords(deadlineMs, last) };
      return completed.kind === "completion" ? withoutKey(completed, cutWritten) : completed;
    } catch (error) {
      return failureOf(error, cut);
    } finally {
      ended.abort();
    }
  };
}

function toolOf({ name, description, parametersJson }: Tool): OpenAI.ChatCompletionTool {
  const parameters = JSON.parse(parametersJson) as Record<string, unknown>;
  return { type: "function", function: { name, description, parameters } };
}

function withoutKey(
  { text, content, toolCalls, ...rest }: Extract<Completed, Written>,
  cut: (words: string) => string,
) {
  const calls = toolCalls.map((call) => ({ ...call, argumentsJson: cut(call.argumentsJson) }));
  return { ...rest, text: cut(text), content: cut(content), toolCalls: calls };
}

function lateWords(deadlineMs: number, last: string): string {
  const words = `no completion within ${deadlineMs / 1000} s`;
  return last === "" ? words : `${words}; the last attempt: ${last}`;
}

function failureOf(error: unknown, cut: (words: string) => string): Completed {
  if (!(error instanceof APIError)) throw error;
  const message = oneLine(cut(error.message));
  if (isTooLong(error.status as number | undefined, error.code, message)) return { kind: "full", message };
  return REFUSALS.has(error.status as number | undefined) ? { kind: "refused", message } : { kind: "failed", message };
}

/** Returns whether an endpoint refuses a conversation because it is longer than the model's context. */
function isTooLong(status: number | undefined, code: string | null | undefined, message: string): boolean {
  if (status !== 400 && status !== 413) return false;
  return code === "context_length_exceeded" || /context (length|window|size)|maximum.*tokens/i.test(message);
}
