/** Generates mazes: a random tree of corridors, from which further walls are removed to make loops. */
import { defineGenerator } from "../../define.ts";
import type { Level } from "../../environment.ts";
import { type Rng, sample } from "../../lib/rng.ts";
import { defineParameters, minMax, type ParametersOf, ranges, wholeNumber } from "../../parameters.ts";
import { type Cell, distancesFrom, EAST, type MazeInstance, SOUTH } from "./maze.ts";

const SIZE_MAX = 12;

const parameters = defineParameters({
  size: wholeNumber("Number of rows of the maze, and of columns.", 5, [3, SIZE_MAX]),
  loops: wholeNumber("Number of walls removed from a maze without loops. Each removal makes a loop.", 2, [0, 16]),
  ...minMax(
    "moves",
    ["Fewest moves of the shortest way to the exit.", "Most moves of the shortest way to the exit."],
    [6, 10],
    {
      min: 2,
      max: SIZE_MAX ** 2 - 1,
      integer: true,
    },
  ),
});

type MazeParameters = ParametersOf<typeof parameters>;

function levelOf(
  name: string,
  size: number,
  loops: number,
  moves: readonly [min: number, max: number],
): Level<MazeParameters> {
  const description = `${size} × ${size} cells, ${loops} ${loops === 1 ? "loop" : "loops"}, exit ${moves.join(" to ")} moves away`;
  return { name, description, parameters: { size, loops, ...ranges({ moves }) } };
}

/** Opening between two cells: a cell, and the side of it, EAST or SOUTH, that has no wall. */
type Opening = readonly [cell: Cell, way: number];

/** Returns the neighbours of a cell, each with the opening that would join the two cells. */
function openingsOf(size: number, cell: Cell): readonly (readonly [next: Cell, opening: Opening])[] {
  const [row, column] = [Math.floor(cell / size), cell % size];
  const found: (readonly [Cell, Opening])[] = [];
  if (row > 0) found.push([cell - size, [cell - size, SOUTH]]);
  if (column < size - 1) found.push([cell + 1, [cell, EAST]]);
  if (row < size - 1) found.push([cell + size, [cell, SOUTH]]);
  if (column > 0) found.push([cell - 1, [cell - 1, EAST]]);
  return found;
}

/**
 * Opens a path to every cell by a random depth-first walk, which makes long corridors. Returns the openings of each
 * cell.
 */
function carve(size: number, rng: Rng): number[] {
  const open = new Array<number>(size * size).fill(0);
  const first = rng.int(0, open.length - 1);
  const seen = new Set([first]);
  const stack = [first];
  for (let cell = stack.at(-1); cell !== undefined; cell = stack.at(-1)) {
    const unseen = openingsOf(size, cell).filter(([next]) => !seen.has(next));
    if (unseen.length === 0) {
      stack.pop();
      continue;
    }
    const [next, [at, way]] = rng.pick(unseen);
    open[at] = (open[at] as number) | way;
    seen.add(next);
    stack.push(next);
  }
  return open;
}

/** Removes `loops` random walls of those that are left. Each removal makes a loop. */
function addLoops(size: number, open: number[], loops: number, rng: Rng): void {
  const walls = open.flatMap((ways, cell) =>
    openingsOf(size, cell).flatMap(([, opening]) =>
      opening[0] === cell && (ways & opening[1]) === 0 ? [opening] : [],
    ),
  );
  for (const i of sample(walls.length, Math.min(loops, walls.length), rng)) {
    const [cell, way] = walls[i] as Opening;
    open[cell] = (open[cell] as number) | way;
  }
}

export const generator = defineGenerator({
  parameters,
  levels: [
    levelOf("easy", 4, 1, [4, 6]),
    levelOf("medium", 5, 2, [6, 10]),
    levelOf("hard", 6, 3, [9, 15]),
    levelOf("expert", 8, 5, [14, 26]),
  ],
  conflict({ size, moves_min: least }: MazeParameters) {
    const most = size * size - 1;
    return least <= most
      ? undefined
      : `moves_min is ${least}, and a way in a maze of size ${size} has at most ${most} moves`;
  },
  generate({ size, loops, moves_min: least, moves_max: most }: MazeParameters, rng: Rng): MazeInstance | undefined {
    const open = carve(size, rng);
    addLoops(size, open, loops, rng);
    const start = rng.int(0, open.length - 1);
    const distances = distancesFrom({ size, start, exit: start, open }, start);
    const exits = [...open.keys()].filter((cell) => {
      const distance = distances[cell] as number;
      return least <= distance && distance <= most;
    });
    return exits.length === 0 ? undefined : { size, start, exit: rng.pick(exits), open };
  },
});
