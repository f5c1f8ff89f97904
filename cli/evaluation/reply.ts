/** Reads the model's text from a chat endpoint's reply. */
import type { FinishReasonName } from "../../clients/ts/src/public.ts";
import { withThoughts } from "../../envs/lib/join-thoughts.ts";
import { oneLine } from "./attempt.ts";

/** Text that the model wrote. */
export interface Written {
  readonly text: string;
  /** Reason why the text ended. Undefined if the endpoint does not say. */
  readonly finishReason: FinishReasonName | undefined;
}

export type Reply =
  | ({ readonly kind: "completion" } & Written)
  /** Result if the endpoint gave up, or the reply is empty and was not cut off. */
  | { readonly kind: "unusable"; readonly message: string };

/** Values of finish_reason with which servers say that a completion reached its maximum length. */
const CUT_OFF: ReadonlySet<string> = new Set(["length", "max_tokens", "max_output_tokens", "model_length"]);
/**
 * Values of finish_reason with which servers say that they gave up. The text up to then is not what the model would
 * have written.
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
  if (content.trim() === "" && thinking.trim() === "" && !isCutOff)
    return {
      kind: "unusable",
      message: `the reply is empty${ended === "" ? "" : ` (finish_reason ${oneLine(ended)})`}`,
    };
  const finishReason = isCutOff ? "length" : ended === "" ? undefined : "stop";
  return { kind: "completion", text: withThoughts(thinking || undefined, content, isCutOff), finishReason };
}

/** Returns a text, or the joined texts of a list of content parts. Empty for anything else. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return "";
  return value.map((part: { readonly text?: unknown } | null) => textOf(part?.text)).join("");
}
