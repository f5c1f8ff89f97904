/** Reads the model's text from a chat endpoint's reply. */
import type { FinishReasonName, ToolCall } from "../../clients/ts/src/public.ts";
import { withThoughts } from "../../envs/lib/join-thoughts.ts";
import { oneLine } from "./attempt.ts";

/** Call of a tool that the model wrote. */
export type WrittenCall = Readonly<Pick<ToolCall, "id" | "name" | "argumentsJson">>;

/** Completion that the model wrote. */
export interface Written {
  /**
   * Text of the reply. If the endpoint returns the thinking in a separate field, the text begins with the thinking in
   * <think> tags.
   */
  readonly text: string;
  /** Text without the thinking, for the conversation in the next request. */
  readonly content: string;
  /** Calls of tools that the endpoint parsed. */
  readonly toolCalls: readonly WrittenCall[];
  /** Reason why the text ended. Undefined if the endpoint does not say. */
  readonly finishReason: FinishReasonName | undefined;
}

export type Reply =
  | ({ readonly kind: "completion" } & Written)
  /**
   * Reply that cannot be used: the endpoint gave up before the end, or the reply has neither text nor calls of tools
   * although it was not cut off.
   */
  | { readonly kind: "unusable"; readonly message: string };

/** Values of finish_reason with which servers say that a completion reached its maximum length. */
const CUT_OFF: ReadonlySet<string> = new Set(["length", "max_tokens", "max_output_tokens", "model_length"]);
/**
 * Values of finish_reason with which servers say that they gave up. The text up to that point is not the model's whole
 * completion.
 */
const GIVEN_UP: ReadonlySet<string> = new Set(["abort", "aborted", "error", "cancelled"]);

/** Fields that are read from a choice of the reply. Servers give more or fewer fields than their protocol says. */
interface Choice {
  readonly finish_reason?: unknown;
  readonly message?: {
    readonly content?: unknown;
    readonly refusal?: unknown;
    readonly reasoning_content?: unknown;
    readonly reasoning?: unknown;
    readonly tool_calls?: unknown;
  } | null;
}

export function readReply({ choices }: { readonly choices: readonly unknown[] }): Reply {
  const { message, finish_reason: reason } = (choices[0] ?? {}) as Choice;
  const ended = typeof reason === "string" ? reason.toLowerCase() : "";
  if (GIVEN_UP.has(ended))
    return { kind: "unusable", message: `the endpoint gave up in the middle (${oneLine(ended)})` };
  const isCutOff = CUT_OFF.has(ended);
  const content = textOf(message?.content) || textOf(message?.refusal);
  const thinking = textOf(message?.reasoning_content) || textOf(message?.reasoning);
  const toolCalls = callsOf(message?.tool_calls);
  if (content.trim() === "" && thinking.trim() === "" && toolCalls.length === 0 && !isCutOff)
    return {
      kind: "unusable",
      message: `the reply is empty${ended === "" ? "" : ` (finish_reason ${oneLine(ended)})`}`,
    };
  const finishReason = isCutOff ? "length" : ended === "" ? undefined : "stop";
  const text = withThoughts(thinking || undefined, content, isCutOff);
  return { kind: "completion", text, content, toolCalls, finishReason };
}

/**
 * Returns the calls of tools in a reply. A call without an id gets an id of nine letters and digits, which every chat
 * template accepts. Some servers send the arguments as a JSON object instead of as text, or leave them out if there are
 * none.
 */
function callsOf(value: unknown): readonly WrittenCall[] {
  if (!Array.isArray(value)) return [];
  return value.map((call: { readonly id?: unknown; readonly function?: unknown } | null, i) => {
    const { name, arguments: given } = (call?.function ?? {}) as Readonly<Record<string, unknown>>;
    const id = textOf(call?.id) || `call${String(i).padStart(5, "0")}`;
    return {
      id,
      name: textOf(name),
      argumentsJson: (typeof given === "string" ? given : JSON.stringify(given ?? {})) || "{}",
    };
  });
}

/** Returns a text, or the joined texts of a list of content parts. Empty for anything else. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return "";
  return value.map((part: { readonly text?: unknown } | null) => textOf(part?.text)).join("");
}
