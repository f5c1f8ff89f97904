/** Mazes: what is seen, how moves are read, and a second proof that the baseline is the shortest way. */
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { maze } from "../../../envs/games/maze/index.ts";
import { EAST, type MazeInstance, SOUTH, turned } from "../../../envs/games/maze/maze.ts";
import { directionOf, formatMoves, parseMoves } from "../../../envs/games/maze/parse.ts";
import { turns, verify } from "../../../envs/games/maze/verify.ts";
import { makeGenerated } from "../../../envs/instances.ts";
import { rngFor } from "../../../envs/lib/rng.ts";
import type { Action } from "../../../envs/turns/turns.ts";
import { share } from "../../support/share.ts";

const levels = maze.levels.map((level) => [level.name, level] as const);

function mazeOf(level: (typeof levels)[number][1], seed: number): MazeInstance {
  const made = makeGenerated(maze, { parameters: level.parameters, seed: BigInt(seed), split: "train" });
  if (made.kind !== "made") throw new Error(made.message);
  return made.instance;
}

/** Ways of length 1 between cells, by the definition of openings, as rows of a Boolean matrix. */
function stepMatrix({ size, open }: MazeInstance): readonly bigint[] {
  const rows = open.map(() => 0n);
  const join = (a: number, b: number): void => {
    rows[a] = (rows[a] as bigint) | (1n << BigInt(b));
    rows[b] = (rows[b] as bigint) | (1n << BigInt(a));
  };
  for (const [cell, ways] of open.entries()) {
    if ((ways & EAST) !== 0) join(cell, cell + 1);
    if ((ways & SOUTH) !== 0) join(cell, cell + size);
  }
  return rows;
}

/** The least power of the matrix of steps in which the exit can be reached: the length of the shortest walk. */
function leastPower(instance: MazeInstance): number {
  const steps = stepMatrix(instance);
  let reached = 1n << BigInt(instance.start);
  for (let moves = 0; moves <= steps.length; moves++) {
    if (((reached >> BigInt(instance.exit)) & 1n) === 1n) return moves;
    reached = steps.reduce((all, row, cell) => (((reached >> BigInt(cell)) & 1n) === 1n ? all | row : all), 0n);
  }
  return Infinity;
}

describe.each(levels)("level %s", (_, level) => {
  const mazes = Array.from({ length: 4 * share(100) }, (__, seed) => mazeOf(level, seed));

  test("by powers of the matrix of steps: the solver's way is feasible and shortest, within the level's bounds", () => {
    for (const instance of mazes) {
      const { answer, value, bound, proven } = maze.solver?.solve(instance) ?? {};
      expect([value, bound, proven]).toEqual([leastPower(instance), leastPower(instance), true]);
      expect(verify(instance, answer as readonly number[])).toEqual({ kind: "feasible", objective: value });
      expect(value).toBeGreaterThanOrEqual(level.parameters["moves_min"] ?? 0);
      expect(value).toBeLessThanOrEqual(level.parameters["moves_max"] ?? 0);
    }
  });

  test("every cell can be reached, by one more way for each loop, and no opening leads out", () => {
    for (const instance of mazes) {
      const { size, open } = instance;
      const openings =
        stepMatrix(instance).reduce((sum, row) => sum + row.toString(2).replaceAll("0", "").length, 0) / 2;
      expect(openings).toBe(size * size - 1 + (level.parameters["loops"] ?? 0));
      for (const exit of open.keys()) expect(leastPower({ ...instance, exit })).toBeLessThan(size * size);
      for (let i = 0; i < size; i++) {
        expect((open[i * size + size - 1] ?? 0) & EAST).toBe(0);
        expect((open[size * (size - 1) + i] ?? 0) & SOUTH).toBe(0);
      }
    }
  });

  test("a depth-first walk, which sees only the replies, reaches the exit within the calls of the task", () => {
    for (const instance of mazes.slice(0, 20)) expect(explore(instance)).toBeLessThanOrEqual(turns.calls);
  });

  test("an instance comes back from its bytes, and is one with its turns and reflections", () => {
    for (const instance of mazes.slice(0, 20)) {
      const bytes = maze.inline?.encode(instance) ?? new Uint8Array();
      expect(maze.inline?.decode(bytes)).toEqual(instance);
      const all = Array.from({ length: 8 }, (__, symmetry) => turned(instance, symmetry));
      expect(new Set(all.map((each) => maze.invariant?.(each))).size).toBe(1);
      expect(new Set(all.map(leastPower)).size).toBe(1);
    }
  });
});

const call = (direction: unknown, number = 0): Action => ({
  kind: "tool",
  number,
  name: "move",
  arguments: { direction },
});
const say = (text: string, number = 0): Action => ({ kind: "answer", number, text });
const rng = rngFor("unused");

/** Plays by a depth-first walk that reads nothing but replies. Returns the number of calls until the exit. */
function explore(instance: MazeInstance): number {
  const seen = new Set<string>();
  let state = turns.start(instance);
  let calls = 0;
  let isOver = false;
  const placeIn = (reply: string): string => /row \d+, column \d+/.exec(reply)?.[0] ?? "exit";
  const go = (direction: string): string => {
    const { reply, state: next, over = false } = turns.advance(instance, state, call(direction, calls++), rng);
    // The state goes through its encoding, as in a task id.
    state = fromBinary(turns.schema, toBinary(turns.schema, next));
    isOver = over;
    return reply;
  };
  const visit = (view: string): void => {
    seen.add(placeIn(view));
    const [row = 0, column = 0] = [...placeIn(view).matchAll(/\d+/g)].map(Number);
    for (const [direction, back, r, c] of [
      ["north", "south", -1, 0],
      ["east", "west", 0, 1],
      ["south", "north", 1, 0],
      ["west", "east", 0, -1],
    ] as const) {
      if (isOver || seen.has(`row ${row + r}, column ${column + c}`) || view.includes(`${direction} 0`)) continue;
      const next = go(direction);
      if (isOver) return;
      visit(next);
      if (!isOver) go(back);
    }
  };
  visit(maze.render(instance, "answer_tag")[0]?.content.match(/You are at row.*/)?.[0] ?? "");
  expect(isOver).toBe(true);
  return calls;
}

/** Three rows of three cells. The first cell of the second row has walls on all sides. */
const SMALL: MazeInstance = {
  size: 3,
  start: 0,
  exit: 8,
  open: [EAST, SOUTH | EAST, 0, 0, SOUTH | EAST, SOUTH, EAST, 0, 0],
};

test("a move shows the next cell and how far one sees, and a wall or a wrong call leaves the walker where it is", () => {
  const start = turns.start(SMALL);
  const moved = turns.advance(SMALL, start, call("east"), rng);
  expect(moved.reply).toBe("You are at row 1, column 2. Cells before a wall: north 0, east 1, south 2, west 1.");
  expect(moved).toMatchObject({ state: { cell: 1 }, facts: { kind: "infeasible" } });
  for (const [action, words] of [
    [call("north"), "There is a wall to the north. You are at row 1, column 1."],
    [call(3.5), "The argument 'direction' must be north, east, south or west. You are at"],
    [say("north or so"), "The move cannot be read: it is not a list of directions."],
    [say("east, east"), "A call makes one move, and the answer has 2."],
    [say("[]"), "A call makes one move, and the answer has 0."],
  ] as const) {
    const { reply, state, over } = turns.advance(SMALL, start, action, rng);
    expect(reply).toContain(words);
    expect([state, over]).toEqual([start, undefined]);
  }
  const last = turns.advance(SMALL, { ...start, cell: 5 }, say("south", 6), rng);
  expect(last).toMatchObject({ reply: "You are at the exit.", over: true, facts: { kind: "feasible", objective: 7 } });
});

test("a way as an answer must end at the exit, and pass no wall", () => {
  const way = [1, 2, 1, 2];
  expect(verify(SMALL, way)).toEqual({ kind: "feasible", objective: 4 });
  expect(verify(SMALL, [...way, 0])).toEqual({ kind: "infeasible", violation: "the way does not end at the exit" });
  expect(verify(SMALL, [2, ...way])).toEqual({ kind: "infeasible", violation: "move 1 runs into a wall" });
});

const RIGHT = [
  "north, E, s",
  "[north, east, south]",
  '["North","EAST","down"]',
  "(up, right, down)",
  "n → e → s",
  "n -> e -> s",
  "[north-east-south]",
  " N E S ",
];
const WRONG = ["northeast", "[north", "north]", '"north', "no", "0", "ünorth", "north;east", "n e - s", "toString"];

test("directions are read in several spellings", () => {
  for (const text of RIGHT) expect([text, parseMoves(text)]).toEqual([text, { kind: "answer", answer: [0, 1, 2] }]);
  for (const text of WRONG) expect([text, parseMoves(text).kind]).toEqual([text, "malformed"]);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 3 })), (moves) => {
      expect(parseMoves(formatMoves(moves))).toEqual({ kind: "answer", answer: moves });
    }),
  );
  expect(parseMoves("West")).toEqual({ kind: "answer", answer: [3] });
  expect(directionOf("West")).toBe(3);
  expect(parseMoves("n ".repeat(1001)).kind).toBe("malformed");
  expect(parseMoves(`n${"o".repeat(1_000_000)}`).kind).toBe("malformed");
});
