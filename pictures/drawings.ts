/** Registers the functions that draw the tasks of Gradus's environments. */
import { code } from "../envs/code/index.ts";
import { countdown } from "../envs/countdown/index.ts";
import type { Environment } from "../envs/environment.ts";
import { maze } from "../envs/games/maze/index.ts";
import { arithmetic } from "../envs/math/arithmetic/index.ts";
import { math } from "../envs/math/index.ts";
import { linear } from "../envs/math/linear/index.ts";
import { bisection } from "../envs/np/bisection/index.ts";
import { clique } from "../envs/np/clique/index.ts";
import { coloring } from "../envs/np/coloring/index.ts";
import { hamiltonian } from "../envs/np/hamiltonian/index.ts";
import { independentSet } from "../envs/np/independent-set/index.ts";
import { knapsack } from "../envs/np/knapsack/index.ts";
import { meetings } from "../envs/np/meetings/index.ts";
import { setCover } from "../envs/np/set-cover/index.ts";
import { subsetSum } from "../envs/np/subset-sum/index.ts";
import { tsp } from "../envs/np/tsp/index.ts";
import { sequences } from "../envs/sequence/index.ts";
import { writing } from "../envs/writing/index.ts";
import { draw as drawCode } from "./code.ts";
import { draw as drawCountdown } from "./countdown.ts";
import { drawArithmetic, drawLinear, drawMath } from "./math.ts";
import { draw as drawMaze } from "./maze.ts";
import { draw as drawBisection } from "./np/bisection.ts";
import { draw as drawColoring } from "./np/coloring.ts";
import { draw as drawHamiltonian } from "./np/hamiltonian.ts";
import { draw as drawKnapsack } from "./np/knapsack.ts";
import { draw as drawMeetings } from "./np/meetings.ts";
import { draw as drawSetCover } from "./np/set-cover.ts";
import { draw as drawSubsetSum } from "./np/subset-sum.ts";
import { draw as drawTsp } from "./np/tsp.ts";
import { drawClique, drawIndependentSet } from "./np/vertex-set.ts";
import { draw as drawSequence } from "./sequence.ts";
import { draw as drawWriting } from "./writing.ts";

/** Function that draws a task, an answer to it and a best answer. See `draw` in envs/environment.ts. */
type Drawing<Instance = unknown, Answer = unknown> = NonNullable<Environment<Instance, Answer>["draw"]>;

const drawings: ReadonlyMap<string, Drawing> = new Map([
  of(code, drawCode),
  of(countdown, drawCountdown),
  of(math, drawMath),
  of(arithmetic, drawArithmetic),
  of(linear, drawLinear),
  of(maze, drawMaze),
  of(bisection, drawBisection),
  of(clique, drawClique),
  of(coloring, drawColoring),
  of(hamiltonian, drawHamiltonian),
  of(independentSet, drawIndependentSet),
  of(knapsack, drawKnapsack),
  of(meetings, drawMeetings),
  of(setCover, drawSetCover),
  of(subsetSum, drawSubsetSum),
  of(tsp, drawTsp),
  ...sequences.map((sequence) => of(sequence, drawSequence)),
  of(writing, drawWriting),
]);

/** Returns a map entry. Its types ensure that the drawing function accepts the environment's instances and answers. */
function of<Instance, Answer>(
  environment: Environment<Instance, Answer>,
  draw: Drawing<Instance, Answer>,
): readonly [string, Drawing] {
  return [keyOf(environment), draw];
}

/** Returns the key of an environment. It includes the version, because another version may have other instances. */
function keyOf({ id, version }: Pick<Environment, "id" | "version">): string {
  return `${id} ${version}`;
}

/** Returns whether an environment's tasks have pictures, drawn here or by the environment's own process. */
export function isDrawn(environment: Environment): boolean {
  return environment.asked === undefined ? drawingOf(environment) !== undefined : environment.asked.draw !== undefined;
}

/** Returns an error text which says that this environment has no pictures, and lists the environments that have. */
export function noPicture(id: string, environments: readonly Environment[]): string {
  const drawn = new Set(environments.filter(isDrawn).map((each) => each.id));
  return `${id} draws no pictures; these do: ${[...drawn].join(", ")}`;
}

/**
 * Returns the function that draws an environment: its own, or the one registered here. Returns undefined if there is
 * none.
 */
export function drawingOf<Instance>(environment: Environment<Instance>): Drawing<Instance> | undefined {
  return environment.draw ?? drawings.get(keyOf(environment));
}
