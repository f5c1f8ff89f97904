/** Draws a maze with the way of an answer and a shortest way, so that a person sees detours and walls in the way. */
import { type Cell, EAST, type MazeInstance, neighbour, SOUTH } from "../envs/games/maze/maze.ts";
import type { Picture } from "../envs/picture.ts";
import { legendOf, notesOf } from "./lib/picture.ts";
import { circle, path, segment, text } from "./lib/svg.ts";

const CELL = 34;
const MARGIN = 10;

export function draw(maze: MazeInstance, moves?: readonly number[], best?: readonly number[]): Picture {
  const { size, start, exit } = maze;
  const walked = cellsOf(maze, moves ?? []);
  const shortest = cellsOf(maze, best ?? []);
  const isStopped = walked.length <= (moves?.length ?? 0);
  const end = walked.at(-1) ?? start;
  return {
    width: size * CELL + 2 * MARGIN,
    height: size * CELL + 2 * MARGIN,
    shapes: [
      path(wallsOf(maze), "gd-limit"),
      path(stepsOf(maze, shortest, 3), "gd-best"),
      path(stepsOf(maze, walked, -3), "gd-chosen"),
      circle(...middle(maze, start), 7, "gd-f0"),
      circle(...middle(maze, exit), 7, "gd-f2"),
      ...(isStopped ? [circle(...middle(maze, end), 11, "gd-ring")] : []),
      text(...middle(maze, start), "gd-on-dark", "S"),
      text(...middle(maze, exit), "gd-on-light", "E"),
    ],
    legend: legendOf(
      [true, "dot", "gd-f0", "start"],
      [true, "dot", "gd-f2", "exit"],
      [walked.length > 1, "line", "gd-chosen", "way of the answer"],
      [shortest.length > 1, "line", "gd-best", "a shortest way"],
      [isStopped, "dot", "gd-ring", "the next move runs into a wall"],
    ),
    notes: notesOf(),
  };
}

/** Returns the cells that the moves visit, up to the first move into a wall. */
function cellsOf(maze: MazeInstance, moves: readonly number[]): readonly Cell[] {
  const cells = [maze.start];
  for (const direction of moves) {
    const next = neighbour(maze, cells.at(-1) as Cell, direction);
    if (next === undefined) break;
    cells.push(next);
  }
  return cells;
}

function middle({ size }: MazeInstance, cell: Cell): readonly [x: number, y: number] {
  return [MARGIN + (cell % size) * CELL + CELL / 2, MARGIN + Math.floor(cell / size) * CELL + CELL / 2];
}

/** Returns the lines of a path, shifted by `aside` pixels so that two paths do not hide each other. */
function stepsOf(maze: MazeInstance, cells: readonly Cell[], aside: number): readonly string[] {
  const steps = new Map<string, string>();
  for (const [i, cell] of cells.entries()) {
    const before = cells[i - 1];
    if (before === undefined) continue;
    const [[x1, y1], [x2, y2]] = [middle(maze, before), middle(maze, cell)];
    // A step that is walked often is drawn once, so that a long answer gives no large picture.
    steps.set([before, cell].sort((a, b) => a - b).join(), segment(x1 + aside, y1 + aside, x2 + aside, y2 + aside));
  }
  return [...steps.values()];
}

function wallsOf({ size, open }: MazeInstance): readonly string[] {
  const side = size * CELL;
  const [near, far] = [MARGIN, MARGIN + side];
  const walls = open.flatMap((ways, cell) => {
    const [x, y] = [near + ((cell % size) + 1) * CELL, near + (Math.floor(cell / size) + 1) * CELL];
    const east = (ways & EAST) === 0 ? [segment(x, y - CELL, x, y)] : [];
    return (ways & SOUTH) === 0 ? [...east, segment(x - CELL, y, x, y)] : east;
  });
  return [segment(near, near, far, near), segment(near, near, near, far), ...walls];
}
