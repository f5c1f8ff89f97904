/** A small OpenAI-compatible chat server on loopback, whose model is a few lines of code. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { countdown } from "../../envs/countdown/index.ts";
import { rngFor } from "../../envs/lib/rng.ts";

export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly {
    readonly role: string;
    readonly content: string;
    readonly tool_calls?: unknown;
  }[];
  readonly temperature?: number;
  readonly max_tokens?: number;
  readonly [field: string]: unknown;
}

/** Behaviours of the server: it completes a request, fails, asks for patience, breaks off or never answers. */
export type Behaviour =
  | {
      readonly kind: "answer";
      readonly content: string | null;
      readonly reasoning?: string;
      /** Calls of tools, as the model gives them. */
      readonly toolCalls?: readonly object[];
      /** Defaults to "stop". */
      readonly finishReason?: string;
      readonly delayMs?: number;
      readonly usage?: object;
    }
  | { readonly kind: "status"; readonly status: number; readonly retryAfter?: string; readonly message?: string }
  /** Reply of any kind, and the bytes after it. */
  | {
      readonly kind: "raw";
      readonly body: string;
      readonly then: "end" | "reset" | "silence";
      readonly contentType?: string;
    }
  | { readonly kind: "redirect"; readonly status: number; readonly to: string }
  | { readonly kind: "reset" }
  | { readonly kind: "silence" };

export interface ChatServer extends AsyncDisposable {
  /** The base URL that clients are given. */
  readonly url: string;
  /** All requests, in the order they came. */
  readonly requests: readonly (ChatRequest & Heard)[];
  /** Returns the largest number of requests that were open at once. */
  readonly peak: () => number;
}

/** Headers of a request. */
interface Heard {
  readonly authorization: string | undefined;
  readonly traceparent: string | undefined;
}

/** Starts the server. `behave` gets the number of earlier requests. */
export async function startChatServer(behave: (request: ChatRequest, index: number) => Behaviour): Promise<ChatServer> {
  const requests: (ChatRequest & Heard)[] = [];
  let [open, peak] = [0, 0];
  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    peak = Math.max(peak, ++open);
    response.once("close", () => open--);
    const request = JSON.parse(await text(incoming)) as ChatRequest;
    const { authorization, traceparent } = incoming.headers;
    requests.push({ ...request, authorization, traceparent: traceparent?.toString() });
    const behaviour = behave(request, requests.length - 1);
    if (behaviour.kind === "answer" && behaviour.delayMs !== undefined)
      await new Promise((resolve) => setTimeout(resolve, behaviour.delayMs));
    reply(incoming, response, request, behaviour);
  };
  const server = createServer((incoming, response) => void handle(incoming, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    peak: () => peak,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function reply(incoming: IncomingMessage, response: ServerResponse, request: ChatRequest, behaviour: Behaviour): void {
  switch (behaviour.kind) {
    case "answer": {
      const { content, reasoning, toolCalls, finishReason = "stop", usage } = behaviour;
      const calls = toolCalls === undefined ? {} : { tool_calls: toolCalls };
      const thoughts = reasoning === undefined ? {} : { reasoning_content: reasoning };
      const message = { role: "assistant", content, ...thoughts, ...calls };
      const choices = [{ index: 0, message, finish_reason: finishReason }];
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ id: "chat", object: "chat.completion", model: request.model, choices, usage }));
      return;
    }
    case "status": {
      const { status, retryAfter, message = "not now" } = behaviour;
      response.writeHead(status, {
        "content-type": "application/json",
        ...(retryAfter !== undefined && { "retry-after": retryAfter }),
      });
      response.end(JSON.stringify({ error: { message } }));
      return;
    }
    case "raw":
      response.writeHead(200, { "content-type": behaviour.contentType ?? "application/json" });
      // The body goes first, so that the reply has begun when the connection breaks.
      response.write(behaviour.body, () => {
        if (behaviour.then === "end") response.end();
        if (behaviour.then === "reset") incoming.socket.destroy();
      });
      return;
    case "redirect":
      response.writeHead(behaviour.status, { location: behaviour.to });
      response.end();
      return;
    case "reset":
      incoming.socket.destroy();
      return;
    case "silence":
      return;
  }
}

const wrap = (answer: string): string => `<think>\nLet me see.\n</think>\n<answer>${answer}</answer>`;

/**
 * Returns the answer of a middling model: right or near at times, else wrong in every way there is. The prompt and the
 * index fix it.
 */
export function middlingAnswer({ messages }: ChatRequest, index: number): string {
  const prompt = messages.at(-1)?.content ?? "";
  const rng = rngFor("middling", prompt, index);
  const luck = rng.float();
  if (luck < 0.08) return "I would rather not say.";
  const given = /Using the numbers ([\d, and]+), write .* equals (\d+)/.exec(prompt);
  if (given !== null) return wrap(countdownAnswer(given, luck));
  const cities = Number(/tour of (\d+) cities/.exec(prompt)?.[1] ?? 0);
  const tour = luck < 0.3 ? nearestNeighbours(prompt, cities).slice(0, -1) : nearestNeighbours(prompt, cities);
  return wrap(`[${[...tour, tour[0]].join(", ")}]`);
}

function countdownAnswer([, list = "", target = ""]: RegExpExecArray, luck: number): string {
  const numbers = [...list.matchAll(/\d+/g)].map(Number);
  if (luck < 0.3 + 0.1 * numbers.length) return numbers.join(" + ");
  const solution = countdown.solver?.solve({ numbers, target: Number(target) });
  return solution === undefined ? "0" : countdown.solver!.format(solution.answer);
}

function nearestNeighbours(prompt: string, cities: number): readonly number[] {
  const task = prompt.slice(prompt.lastIndexOf("Your task:"));
  const distances = new Map<string, number>();
  for (const [, from = "", line = ""] of task.matchAll(/^(\d+): (.*)$/gm))
    for (const [, to = "", distance = ""] of line.matchAll(/(\d+)=(\d+)/g)) {
      distances.set(`${from}-${to}`, Number(distance));
      distances.set(`${to}-${from}`, Number(distance));
    }
  const tour = [0];
  while (tour.length < cities) {
    const left = Array.from({ length: cities }, (_, city) => city).filter((city) => !tour.includes(city));
    const lengthTo = (city: number): number => distances.get(`${tour.at(-1)}-${city}`) ?? Infinity;
    tour.push(left.reduce((best, city) => (lengthTo(city) < lengthTo(best) ? city : best)));
  }
  return tour;
}
