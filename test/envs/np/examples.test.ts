/**
 * Tests that a prompt's worked example is another instance, so that a task's answer never stands in its own prompt.
 */
import { expect, test } from "vitest";
import { makeGenerated } from "../../../envs/instances.ts";
import { clique } from "../../../envs/np/clique/index.ts";
import { graphOf } from "../../../envs/lib/graph.ts";
import { levelOf } from "./draws.ts";

const EXAMPLE = graphOf([[1, 2, 3, 4], [3, 4], [3], [4], []]);

test("a task that is the example itself, as one of some hundred easy cliques is, has no example", () => {
  const made = makeGenerated(clique, { parameters: levelOf(clique, "easy"), seed: 353n, split: "train" });
  expect(made).toMatchObject({ kind: "made", instance: EXAMPLE });
  const [{ content } = { content: "" }] = clique.render(EXAMPLE, "answer_tag");
  expect(content).not.toContain("[0, 1, 3, 4]");
  expect(content).not.toContain("Example");
  expect(content).toContain("Your task:\n0: 1 2 3 4\n");
});

test("every other task has it", () => {
  const [{ content } = { content: "" }] = clique.render(graphOf([[1, 2], [2], [3], []]), "answer_tag");
  expect(content).toContain("Example with 5 vertices:\n0: 1 2 3 4\n");
  expect(content).toContain("A largest clique is [0, 1, 3, 4], of 4 vertices.\n\nYour task:\n");
});
