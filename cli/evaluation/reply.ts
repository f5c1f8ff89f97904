/** What a chat endpoint's reply says that the model wrote. Pure. */
import type { FinishReasonName } from "../../clients/ts/src/public.ts";
import { withThoughts } from "../../envs/lib/thoughts.ts";
import { oneLine } from "./attempt.ts";

/** What a model wrote. */
export interface Written {
  readonly text: string;
  /** Undefined: the endpoint does not say. */
  readonly finishReason: FinishReasonName | undefined;
}

export type Reply =
  | ({ readonly kind: "completion" } & Written)
  /** There is nothing in it, and it was not cut off: a failure of the endpoint, or a model that said nothing. */
  | { readonly kind: "unusable"; readonly message: string };

/** What servers call it when a completion reached its greatest length. */
const CUT_OFF: ReadonlySet<string> = new Set(["length", "max_tokens", "max_output_tokens", "model_length"]);
/** A server that gave up in the middle: what it wrote until then is not what the model would have written. */
const GIVEN_UP: ReadonlySet<string> = new Set(["abort", "aborted", "error", "cancelled"]);

/** Servers give more than their protocol says, and less. */
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

/** A text, or the texts of a list of parts; empty for anything else. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return "";
  return value.map((part: { readonly text?: unknown } | null) => textOf(part?.text)).join("");
}
