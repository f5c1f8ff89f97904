/** Tests which conversations are tasks, and the reasons for refusing the others. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { LETTERS_MIN, TEXT_BYTES_MAX } from "../../../envs/writing/conversation.ts";
import { writing } from "../../../envs/writing/index.ts";

const read = (row: unknown) => writing.rows!.read(row);
const human = { from: "human", value: "Write a poem about rain." };
const gpt = { from: "gpt", value: "Rain again, and the roof is a drum." };
const system = { from: "system", value: "You are a poet." };
const task = { system: undefined, request: human.value, reference: gpt.value };

describe("a task is", () => {
  test.each<readonly [string, unknown, object]>([
    ["a request and a reply", { conversations: [human, gpt] }, task],
    ["with a system message", { conversations: [system, human, gpt] }, { ...task, system: system.value }],
    ["with an empty one", { conversations: [{ ...system, value: " " }, human, gpt] }, task],
    ["with other columns", { id: 7, source: "x", conversations: [human, gpt] }, task],
    [
      "as chat messages",
      {
        messages: [
          { role: "user", content: human.value },
          { role: "assistant", content: gpt.value },
        ],
      },
      task,
    ],
  ])("%s", (_, row, expected) => {
    expect(read(row)).toEqual({ kind: "answer", answer: expected });
  });
});

describe("is none, and the column is named", () => {
  const two = "column conversations must be a request and its reply, with at most one system message before them";
  test.each<readonly [string, unknown, string]>([
    ["null", null, "column conversations (or messages) must be a list of messages"],
    ["no list", { conversations: "x" }, "column conversations (or messages) must be a list of messages"],
    ["no messages", { conversations: [] }, two],
    ["no reply", { conversations: [human] }, two],
    ["no request", { conversations: [system, gpt] }, two],
    ["a reply first", { conversations: [gpt, human] }, two],
    ["a system message between", { conversations: [human, system, gpt] }, two],
    [
      "several turns",
      { conversations: [human, gpt, human, gpt] },
      "column conversations has 4 messages: a row must be a single turn, which has at most 3",
    ],
    ["a request more", { messages: [{ role: "user", content: "x" }] }, two.replace("conversations", "messages")],
    [
      "another speaker",
      { conversations: [{ from: "bing", value: "x" }, gpt] },
      "column conversations[0].from must be one of system, human, user, gpt, assistant, chatgpt",
    ],
    [
      "a speaker of Object's",
      { conversations: [{ from: "constructor", value: "x" }, gpt] },
      "column conversations[0].from must be one of system, human, user, gpt, assistant, chatgpt",
    ],
    ["no text", { conversations: [human, { from: "gpt" }] }, "column conversations[1].value must be a text"],
    [
      "an empty request",
      { conversations: [{ from: "human", value: " " }, gpt] },
      "column conversations: the request is empty",
    ],
    [
      "a reply of nothing",
      { conversations: [human, { from: "gpt", value: "… 12345678901234567890 …" }] },
      `column conversations: the reply has fewer than ${LETTERS_MIN} letters`,
    ],
    [
      "a long reply",
      { conversations: [human, { from: "gpt", value: "ü".repeat(TEXT_BYTES_MAX / 2 + 1) }] },
      `column conversations[1].value has more than ${TEXT_BYTES_MAX} bytes of UTF-8`,
    ],
  ])("%s", (_, row, reason) => {
    expect(read(row)).toEqual({ kind: "malformed", reason });
  });
});

describe("the pool that ships", () => {
  const rows = readFileSync(writing.rows!.defaultPool!.file, "utf8").trimEnd().split("\n");

  test("has at least 60 conversations, with replies of 60 to 200 words", () => {
    const read = rows.map((row) => writing.rows!.read(JSON.parse(row)));
    expect(read.length).toBeGreaterThanOrEqual(60);
    for (const each of read) {
      if (each.kind !== "answer") throw new Error(each.reason);
      const { reference } = each.answer as { readonly reference: string };
      const words = reference.split(/\s+/).length;
      expect(words, reference).toBeGreaterThanOrEqual(60);
      expect(words, reference).toBeLessThanOrEqual(200);
    }
  });
});

test("a request that differs in case and white space is of the same split, whatever the reply", () => {
  const invariantOf = (request: string, reference: string) =>
    writing.invariant!({ system: undefined, request, reference });
  expect(invariantOf("Write  a poem", "one")).toBe(invariantOf("write a POEM", "two"));
  expect(invariantOf("Write a poem", "one")).not.toBe(invariantOf("Write a song", "one"));
});
