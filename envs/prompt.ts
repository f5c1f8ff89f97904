/** How a task is put to a policy. */

export type AnswerFormat = "think_answer" | "answer_line" | "answer_tag" | "boxed";

export interface ChatMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}
