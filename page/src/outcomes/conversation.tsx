/** Shows an episode as a conversation: completions with their calls of tools, and the replies with their rewards. */
import { useState } from "preact/hooks";
import type { ChatMessage, ToolCall } from "../../../clients/ts/src/public.ts";
import { Tag } from "../ui/parts.tsx";
import { counted, signed } from "../words.ts";
import { Completion } from "./completion.tsx";
import { visible } from "./visible.ts";

/** Message of a conversation as it is shown. The protobuf message ChatMessage fits this type. */
export type Said = Pick<ChatMessage, "role" | "content" | "reward" | "name"> & {
  readonly toolCalls: readonly Pick<ToolCall, "name" | "argumentsJson">[];
};

/**
 * Number of messages shown at first: the last ones of the conversation. Each press of the button shows as many more.
 */
const SHOWN = 40;

/** Number of characters up to which a text is shown whole. */
const SHORT = 4_000;

/**
 * Returns the messages of an episode after the prompt: the transcript and the last completion. Some trainers repeat the
 * prompt, or the last completion, in the transcript. The result has neither twice.
 */
export function messagesOf(
  transcript: readonly ChatMessage[],
  last: { readonly completion: string; readonly toolCalls: readonly ToolCall[] },
  prompt: readonly ChatMessage[] = [],
): readonly Said[] {
  const hasPrompt =
    prompt.length > 0 && prompt.every(({ role, content }, at) => isSame(transcript[at], { role, content }));
  const between = hasPrompt ? transcript.slice(prompt.length) : transcript;
  const { completion: content, toolCalls } = last;
  if (isSame(between.at(-1), { role: "assistant", content })) return between;
  return [...between, { role: "assistant", content, toolCalls, name: "" }];
}

function isSame(message: ChatMessage | undefined, { role, content }: Pick<Said, "role" | "content">): boolean {
  return message?.role === role && message.content === content;
}

interface ConversationProps {
  readonly messages: readonly Said[];
  /** Author of the completions in words. Defaults to "the model". */
  readonly author?: string;
}

export function Conversation({ messages, author = "the model" }: ConversationProps) {
  const [shown, setShown] = useState(SHOWN);
  const from = Math.max(0, messages.length - shown);
  return (
    <>
      {from > 0 && (
        <button type="button" class="quiet" onClick={() => setShown(shown + SHOWN)}>
          Show {counted(Math.min(SHOWN, from), "message")} before
        </button>
      )}
      <ol class="messages conversation" aria-label="The conversation">
        {messages.slice(from).map((message, at) => (
          <Message key={from + at} message={message} author={author} />
        ))}
      </ol>
    </>
  );
}

function Message({ message, author }: { readonly message: Said; readonly author: string }) {
  const { role, content, toolCalls, name, reward } = message;
  const isPolicy = role === "assistant";
  return (
    <li class={isPolicy ? "policy" : "reply"}>
      <h3>
        {isPolicy ? author : name === "" ? visible(role) : `${visible(role)} ${visible(name)}`}
        {reward !== undefined && <Tag tone={reward > 0 ? "good" : "plain"}>this call alone: {signed(reward)}</Tag>}
      </h3>
      {(content !== "" || toolCalls.length === 0) && <Text text={content} />}
      {toolCalls.map((call, at) => (
        <pre key={at} class="call" tabIndex={0} aria-label="A call of a tool">
          <b>{visible(call.name)}</b> {visible(clipped(call.argumentsJson))}
        </pre>
      ))}
    </li>
  );
}

function Text({ text }: { readonly text: string }) {
  if (text.length > SHORT) return <Completion text={text} />;
  return <pre tabIndex={0}>{text === "" ? <i>The message is empty.</i> : visible(text)}</pre>;
}

function clipped(text: string): string {
  return text.length > SHORT ? `${text.slice(0, SHORT)} … (${counted(text.length - SHORT, "character")} more)` : text;
}
