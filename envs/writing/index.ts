/**
 * Registers the environment `writing`: creative writing, compared with a reference by a judge (Omni-Thinker 4.1, 5.1).
 * README.md opens with an example.
 */
import { formatInstruction } from "../answers/wording.ts";
import { defineEnvironment } from "../define.ts";
import type { Parsed } from "../facts.ts";
import type { AnswerFormat, ChatMessage } from "../prompt.ts";
import { type Conversation, folded, rows } from "./conversation.ts";
import { judgeResource, verify } from "./verify.ts";

function render({ system, request }: Conversation, format: AnswerFormat): readonly ChatMessage[] {
  const asked: ChatMessage = { role: "user", content: `${request}\n\n${formatInstruction(format)}` };
  return system === undefined ? [asked] : [{ role: "system", content: system }, asked];
}

export const writing = defineEnvironment<Conversation, string>({
  id: "writing",
  version: 2,
  earlier: [1],
  description: "Write what is asked for; a judge compares the text with a reference.",
  rows,
  resource: judgeResource,
  grading: {
    primary: "preference",
    components: [
      {
        name: "preference",
        description:
          "1 if a judge prefers the text to the reference in both orders, 0 if it prefers the reference in both, else 0.5.",
        weight: 1,
      },
    ],
  },
  // A text has several lines, so only tags can mark where it ends.
  answerFormats: ["think_answer", "answer_tag"],
  verbatim: true,
  // Rows with equal requests but different references get the same key, so that they fall into the same split.
  invariant: ({ system = "", request }) => JSON.stringify([system, request].map(folded)),
  reference: ({ reference }) => reference,
  render,
  parse: (text): Parsed<string> => ({ kind: "answer", answer: text }),
  verify,
});
