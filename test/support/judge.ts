/** Judge models of a few lines: they read a judge's prompt, and reply in the forms of real models. */
import type { Verdict } from "../../envs/ports.ts";
import type { Behaviour, ChatRequest } from "./chat-server.ts";

export type Winner = Verdict["winner"];

/** Returns the texts between a prompt's marks, without the signs that quote them. */
export function textsOf({ messages }: Pick<ChatRequest, "messages">): { readonly a: string; readonly b: string } {
  const prompt = messages.at(-1)?.content ?? "";
  const textOf = (name: string): string => {
    const [, quoted] = new RegExp(
      `^\\[\\w+: text ${name} begins\\]$\\n(.*?)\\n^\\[\\w+: text ${name} ends\\]$`,
      "ms",
    ).exec(prompt) ?? [, undefined];
    if (quoted === undefined) throw new Error(`there is no text ${name}: ${prompt}`);
    return quoted.replaceAll(/^\| /gm, "");
  };
  return { a: textOf("A"), b: textOf("B") };
}

/** Prefers the text of more different words: crude, and fair. */
export function fairWinner(request: Pick<ChatRequest, "messages">): Winner {
  const { a, b } = textsOf(request);
  const wordsOf = (text: string): number => new Set(text.toLowerCase().match(/\p{L}+/gu)).size;
  if (wordsOf(a) === wordsOf(b)) return "tie";
  return wordsOf(a) > wordsOf(b) ? "A" : "B";
}

export const USAGE = { prompt_tokens: 1000, completion_tokens: 100 };

/** Returns a reply in the form that the prompt asks for. */
export function verdict(winner: Winner, reason = "it has more words"): string {
  return `Text A is short, text B is long.\n\n${JSON.stringify({ reason, winner })}`;
}

export function says(content: string): Behaviour {
  return { kind: "answer", content, usage: USAGE };
}

export function fair(request: ChatRequest): Behaviour {
  return says(verdict(fairWinner(request)));
}
