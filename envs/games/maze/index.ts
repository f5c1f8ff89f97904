/**
 * Defines the maze environment: the policy sees only a part of the maze and finds the exit by moves. README.md has an
 * example.
 */
import { formatInstruction } from "../../answers/wording.ts";
import { defineEnvironment } from "../../define.ts";
import type { InlineCodec } from "../../environment.ts";
import type { AnswerFormat, ChatMessage } from "../../prompt.ts";
import { generator } from "./generate.ts";
import { invariantOf, type MazeInstance, shortestPath } from "./maze.ts";
import { formatMoves, parseMoves } from "./parse.ts";
import { placeOf, turns, verify, viewFrom } from "./verify.ts";

function render(maze: MazeInstance, format: AnswerFormat): readonly ChatMessage[] {
  const { size, start, exit } = maze;
  const content = [
    `You are in a maze of ${size} rows and ${size} columns of cells, with walls between some of them. Row 1 is in the north, and column 1 in the west. The exit is at ${placeOf(maze, exit)}.`,
    "Reach the exit with as few moves as you can. A move leads to the next cell in the north, east, south or west. It fails if a wall is there, and counts all the same. After each move I tell you where you are, and how many cells you see in each direction before a wall.",
    viewFrom(maze, start),
    "Each call makes one move: north, east, south or west.",
    "",
    formatInstruction(format),
  ].join("\n");
  return [{ role: "user", content }];
}

/** Encodes an instance as bytes: the size, start and exit, and the openings of four cells in each further byte. */
const inline: InlineCodec<MazeInstance> = {
  encode({ size, start, exit, open }) {
    const packed = Array.from({ length: Math.ceil(open.length / 4) }, (_, byte) =>
      [0, 1, 2, 3].reduce((bits, i) => bits | ((open[4 * byte + i] ?? 0) << (2 * i)), 0),
    );
    return Uint8Array.from([size, start, exit, ...packed]);
  },
  decode([size = 0, start = 0, exit = 0, ...packed]) {
    const open = Array.from({ length: size * size }, (_, cell) => ((packed[cell >> 2] ?? 0) >> (2 * (cell & 3))) & 3);
    return { size, start, exit, open };
  },
};

export const maze = defineEnvironment<MazeInstance, readonly number[]>({
  id: "games/maze",
  version: 1,
  description:
    "Find the exit of a maze by moves. Each shows what is seen from the next cell. The baseline is the shortest way.",
  goal: "minimize",
  generator,
  solver: {
    solve(instance) {
      const answer = shortestPath(instance);
      const { length: value } = answer;
      return { answer, value, bound: value, proven: true, nodes: 0 };
    },
    format: formatMoves,
  },
  turns,
  inline,
  invariant: invariantOf,
  render,
  metadata: ({ size }) => ({ size: `${size} × ${size}` }),
  answerNames: ["move", "direction", "way", "path", "moves"],
  parse: parseMoves,
  verify,
});
