/** A model behind an OpenAI-compatible chat endpoint. */
import { setTimeout as after } from "node:timers/promises";
import OpenAI, { APIError } from "openai";
import type { ChatMessage } from "../../../clients/ts/src/public.ts";
import { secretCutter } from "../../runtime/secrets.ts";
import { createAttempt, oneLine } from "./attempt.ts";

export interface EndpointOptions {
  /** Base URL, e.g. "http://localhost:8000/v1". */
  readonly endpoint: string;
  readonly model: string;
  /** Undefined: no Authorization header. */
  readonly apiKey: string | undefined;
  /** Milliseconds that one attempt may take. */
  readonly timeoutMs: number;
  /** Milliseconds that a completion may take, its retries and their delays included. */
  readonly deadlineMs: number;
  /** Further fields of each request, e.g. temperature. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Ends all that is under way. */
  readonly signal: AbortSignal;
  /** Told of each attempt that failed. */
  readonly onTrouble: (words: string) => void;
}

export type Completed =
  | { readonly kind: "completion"; readonly text: string }
  /** No completion came before the deadline, or the endpoint refused this prompt. */
  | { readonly kind: "failed"; readonly message: string }
  /** The endpoint refuses all prompts: its address, the key or the model is wrong. */
  | { readonly kind: "refused"; readonly message: string };

export type Model = (prompt: readonly ChatMessage[]) => Promise<Completed>;

/** Enough for any deadline: waits between attempts grow to 8 s, or are as the endpoint asks (up to 60 s). */
const RETRIES_MAX = 100_000;

const REFUSALS: ReadonlySet<number | undefined> = new Set([401, 403, 404]);

/**
 * Attempts are made again after failures that pass: no connection, time-outs, 408, 409, 429, 5xx, and replies that break
 * off or hold no completion.
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
  const cut = secretCutter([apiKey]);
  return async (prompt) => {
    const ended = new AbortController();
    const ending = AbortSignal.any([ended.signal, signal]);
    let last = "";
    const note = (words: string): void => {
      // What is cut off at the end is no trouble of its own.
      if (ending.aborted) return;
      last = words;
      onTrouble(words);
    };
    const client = shared.withOptions({ fetch: createAttempt(timeoutMs, cut, note) });
    const messages = prompt.map(({ role, content }) => ({ role, content }));
    const request = { ...body, model, messages } as OpenAI.ChatCompletionCreateParamsNonStreaming;
    try {
      const call = client.chat.completions.create(request, { signal: ending });
      const late = after(deadlineMs, undefined, { signal: ending }).then(() => undefined);
      const reply = await Promise.race([call, late]);
      // The call, which is aborted below, ends with an error that nobody waits for; the race has taken it.
      if (reply === undefined) return { kind: "failed", message: lateWords(deadlineMs, last) };
      return { kind: "completion", text: cut(textOf(reply)) };
    } catch (error) {
      return failureOf(error, cut);
    } finally {
      ended.abort();
    }
  };
}

function lateWords(deadlineMs: number, last: string): string {
  const words = `no completion within ${deadlineMs / 1000} s`;
  return last === "" ? words : `${words}; the last attempt: ${last}`;
}

/** Servers that split off the thinking give it apart; it is part of what the model wrote. */
function textOf({ choices }: OpenAI.ChatCompletion): string {
  const message = choices[0]?.message as
    | {
        readonly content?: string | null;
        readonly reasoning_content?: string | null;
        readonly reasoning?: string | null;
      }
    | undefined;
  const content = message?.content ?? "";
  const thinking = message?.reasoning_content ?? message?.reasoning ?? "";
  return thinking === "" || content.includes("</think>") ? content : `<think>\n${thinking}\n</think>\n${content}`;
}

function failureOf(error: unknown, cut: (words: string) => string): Completed {
  if (!(error instanceof APIError)) throw error;
  const message = oneLine(cut(error.message));
  return REFUSALS.has(error.status as number | undefined) ? { kind: "refused", message } : { kind: "failed", message };
}
