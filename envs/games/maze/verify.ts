/** Walks through a maze: along the whole path that an answer gives, or by one move in each call of an episode. */
import {
  type MazeState,
  type MazeStateSchema,
  MazeStateSchema as schema,
} from "../../../proto/gen/gradus/internal/v1/game_states_pb.js";
import type { Facts } from "../../facts.ts";
import type { Action, Advanced, Turns } from "../../turns/turns.ts";
import { type Cell, DIRECTION_INDEXES, DIRECTIONS, type MazeInstance, neighbour } from "./maze.ts";
import { directionOf, parseMoves } from "./parse.ts";

/** Returns where a cell is, in words, e.g. "row 2, column 3". */
export function placeOf({ size }: MazeInstance, cell: Cell): string {
  return `row ${Math.floor(cell / size) + 1}, column ${(cell % size) + 1}`;
}

/** Returns what a walker sees from a cell: its coordinates, and the number of cells before a wall in each direction. */
export function viewFrom(maze: MazeInstance, cell: Cell): string {
  const seen = DIRECTION_INDEXES.map((direction) => {
    let count = 0;
    for (let next = neighbour(maze, cell, direction); next !== undefined; next = neighbour(maze, next, direction))
      count++;
    return `${DIRECTIONS[direction]} ${count}`;
  });
  return `You are at ${placeOf(maze, cell)}. Cells before a wall: ${seen.join(", ")}.`;
}

/** Checks a whole path. The objective is the number of its moves. */
export function verify(maze: MazeInstance, moves: readonly number[]): Facts {
  let cell = maze.start;
  for (const [i, direction] of moves.entries()) {
    const next = neighbour(maze, cell, direction);
    if (next === undefined) return { kind: "infeasible", violation: `move ${i + 1} runs into a wall` };
    cell = next;
  }
  if (cell !== maze.exit) return { kind: "infeasible", violation: "the way does not end at the exit" };
  return { kind: "feasible", objective: moves.length };
}

type Move = { readonly kind: "move"; readonly direction: number } | { readonly kind: "none"; readonly reason: string };

function moveOf(action: Action): Move {
  const none = (reason: string): Move => ({ kind: "none", reason });
  if (action.kind === "tool") {
    const given = action.arguments["direction"];
    const direction = typeof given === "string" ? directionOf(given) : undefined;
    if (direction !== undefined) return { kind: "move", direction };
    return none("The argument 'direction' must be north, east, south or west.");
  }
  const parsed = parseMoves(action.text);
  if (parsed.kind === "malformed") return none(`The move cannot be read: ${parsed.reason}.`);
  const [direction, ...others] = parsed.answer;
  if (direction === undefined || others.length > 0)
    return none(`A call makes one move, and the answer has ${parsed.answer.length}.`);
  return { kind: "move", direction };
}

const NOT_THERE: Facts = { kind: "infeasible", violation: "the exit is not reached" };

function advance(maze: MazeInstance, state: MazeState, action: Action): Advanced<MazeState> {
  const { cell } = state;
  const read = moveOf(action);
  if (read.kind === "none") return { reply: `${read.reason} ${viewFrom(maze, cell)}`, state };
  const next = neighbour(maze, cell, read.direction);
  if (next === undefined) {
    const reply = `There is a wall to the ${DIRECTIONS[read.direction]}. ${viewFrom(maze, cell)}`;
    return { reply, state, facts: NOT_THERE };
  }
  const moved: MazeState = { $typeName: "gradus.internal.v1.MazeState", cell: next };
  if (next !== maze.exit) return { reply: viewFrom(maze, next), state: moved, facts: NOT_THERE };
  const facts: Facts = { kind: "feasible", objective: action.number + 1 };
  return { reply: "You are at the exit.", state: moved, over: true, facts };
}

/** Maximum size of a state, in bytes: a tag and the index of a cell. */
const STATE_BYTES = 3;

export const turns: Turns<MazeInstance, typeof MazeStateSchema> = {
  // A depth-first walk visits every cell with 2 · (cells − 1) moves: 126 at the level expert, and 286 at most.
  calls: 128,
  callsMax: 512,
  tools: [
    {
      name: "move",
      description: "Moves to the next cell, if no wall is between. Says where you then are, and how far you see.",
      parameters: {
        type: "object",
        properties: { direction: { type: "string", enum: DIRECTIONS } },
        required: ["direction"],
      },
    },
  ],
  actionBytesMax: 256,
  schema,
  stateBytesMax: () => STATE_BYTES,
  start: ({ start }) => ({ $typeName: "gradus.internal.v1.MazeState", cell: start }),
  advance,
};
