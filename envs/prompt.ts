/** Defines the prompt through which a policy gets a task. */

export type AnswerFormat = "think_answer" | "answer_line" | "answer_tag" | "boxed";

export interface ChatMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}
