/** Square mazes: what is open, how a walker moves, and how far every cell is from the exit. */

/** Cell as its index, row by row from the north-west corner. */
export type Cell = number;

export interface MazeInstance {
  /** Number of rows and of columns. */
  readonly size: number;
  readonly start: Cell;
  readonly exit: Cell;
  /** Openings of each cell: EAST if no wall is to its east, plus SOUTH if none is to its south. */
  readonly open: readonly number[];
}

export const EAST = 1;
export const SOUTH = 2;

/** Names of the directions. A direction is the index of its name. */
export const DIRECTIONS = ["north", "east", "south", "west"] as const;
export const DIRECTION_INDEXES = [0, 1, 2, 3] as const;

/** Returns the neighbour of a cell in a direction. Undefined: a wall is between them, or there is no such direction. */
export function neighbour({ size, open }: MazeInstance, cell: Cell, direction: number): Cell | undefined {
  const isOpen = (from: Cell, way: number): boolean => ((open[from] ?? 0) & way) !== 0;
  switch (DIRECTIONS[direction]) {
    case "north":
      return isOpen(cell - size, SOUTH) ? cell - size : undefined;
    case "east":
      return isOpen(cell, EAST) ? cell + 1 : undefined;
    case "south":
      return isOpen(cell, SOUTH) ? cell + size : undefined;
    case "west":
      // A cell in the last column is never open to the east, so this does not lead to the row above.
      return isOpen(cell - 1, EAST) ? cell - 1 : undefined;
    default:
      return undefined;
  }
}

/** Returns the number of moves from a cell to each cell, by breadth-first search. Infinity: there is no path. */
export function distancesFrom(maze: MazeInstance, from: Cell): readonly number[] {
  const distances = new Array<number>(maze.open.length).fill(Infinity);
  distances[from] = 0;
  const queue = [from];
  for (const cell of queue)
    for (const direction of DIRECTION_INDEXES) {
      const next = neighbour(maze, cell, direction);
      if (next === undefined || distances[next] !== Infinity) continue;
      distances[next] = (distances[cell] as number) + 1;
      queue.push(next);
    }
  return distances;
}

/** Returns the directions of a shortest path from the start to the exit. */
export function shortestPath(maze: MazeInstance): readonly number[] {
  const toExit = distancesFrom(maze, maze.exit);
  const path: number[] = [];
  for (let cell = maze.start; cell !== maze.exit;) {
    const left = toExit[cell] as number;
    const direction = DIRECTION_INDEXES.find((way) => toExit[neighbour(maze, cell, way) ?? -1] === left - 1);
    if (direction === undefined) throw new Error("bug: a maze has no path from its start to its exit");
    path.push(direction);
    cell = neighbour(maze, cell, direction) as Cell;
  }
  return path;
}

/**
 * Returns the maze after one of the eight turns and reflections of a square: bit 0 of `symmetry` mirrors east and west,
 * bit 1 north and south, and bit 2 exchanges rows and columns.
 */
export function turned({ size, start, exit, open }: MazeInstance, symmetry: number): MazeInstance {
  const to = (cell: Cell): Cell => {
    const mirror = (place: number, bit: number): number => ((symmetry & bit) === 0 ? place : size - 1 - place);
    const [row, column] = [mirror(Math.floor(cell / size), 2), mirror(cell % size, 1)];
    return (symmetry & 4) === 0 ? row * size + column : column * size + row;
  };
  const result = new Array<number>(open.length).fill(0);
  for (const [cell, ways] of open.entries())
    for (const [way, step] of [
      [EAST, 1],
      [SOUTH, size],
    ] as const) {
      if ((ways & way) === 0) continue;
      const [one, other] = [to(cell), to(cell + step)];
      const first = Math.min(one, other);
      result[first] = (result[first] as number) | (Math.abs(one - other) === 1 ? EAST : SOUTH);
    }
  return { size, start: to(start), exit: to(exit), open: result };
}

/** Returns a text that is equal for mazes that are turns or reflections of each other. */
export function invariantOf(maze: MazeInstance): string {
  const texts = Array.from({ length: 8 }, (_, symmetry) => JSON.stringify(turned(maze, symmetry)));
  return texts.reduce((least, text) => (text < least ? text : least));
}
