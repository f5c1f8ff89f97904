/**
 * Computes objectives by the definitions in the environments' READMEs (FORGE A.5), independently of the code that
 * scores and as plainly as the READMEs state them. Every feasible answer has an objective.
 */
import { hasBit } from "../../../envs/lib/bit-matrix.ts";
import { adjacent, type Graph, pairs } from "../../../envs/lib/graph.ts";
import type { BisectionInstance } from "../../../envs/np/bisection/generate.ts";
import type { Sides } from "../../../envs/np/bisection/verify.ts";
import type { KnapsackInstance } from "../../../envs/np/knapsack/generate.ts";
import type { Meeting, MeetingsInstance, Placement } from "../../../envs/np/meetings/generate.ts";
import type { Schedule } from "../../../envs/np/meetings/verify.ts";
import type { SetCoverInstance } from "../../../envs/np/set-cover/generate.ts";
import type { SubsetSumInstance } from "../../../envs/np/subset-sum/generate.ts";
import { distanceBetween, type TspInstance } from "../../../envs/np/tsp/generate.ts";
import type { MastermindInstance } from "../../../envs/games/mastermind/code.ts";
import type { MazeInstance } from "../../../envs/games/maze/maze.ts";
import type { SequenceInstance } from "../../../envs/sequence/generate.ts";
import { tableOf } from "../../../envs/sequence/rules.ts";
import type { LedgerInstance } from "../../../envs/tools/ledger/database.ts";
import type { List } from "./neighbourhoods/lists.ts";

/** Undefined: infeasible. */
type Definition = (instance: never, answer: never) => number | undefined;

function areDistinct(list: List, count: number): boolean {
  return new Set(list).size === list.length && list.every((index) => index >= 0 && index < count);
}

function areAll(list: List, count: number): boolean {
  return list.length === count && areDistinct(list, count);
}

function sum(terms: readonly number[]): number {
  return terms.reduce((total, term) => total + term, 0);
}

function everyTwo<T>(items: readonly T[], holds: (one: T, other: T) => boolean): boolean {
  return [...pairs(items.length)].every(([i, j]) => holds(items[i] as T, items[j] as T));
}

/** Each stop with the next, and the last with the first. */
function legs(list: List): readonly (readonly [number, number])[] {
  return list.map((stop, i) => [stop, list[(i + 1) % list.length] as number]);
}

function bisection({ vertices, edges }: BisectionInstance, [one, other]: Sides): number | undefined {
  if (!areAll([...one, ...other], vertices) || Math.abs(one.length - other.length) > 1) return undefined;
  return sum(edges.filter(({ a, b }) => one.includes(a) !== one.includes(b)).map(({ weight }) => weight));
}

/** Returns the definition of a clique (`joined`) or of an independent set: its objective is the number of vertices. */
function vertexSet(joined: boolean): Definition {
  return (graph: Graph, list: List) => {
    if (list.length === 0 || !areDistinct(list, graph.vertices)) return undefined;
    return everyTwo(list, (a, b) => adjacent(graph, a, b) === joined) ? list.length : undefined;
  };
}

function coloring(graph: Graph, colors: List): number | undefined {
  if (colors.length !== graph.vertices) return undefined;
  const isProper = everyTwo([...colors.keys()], (a, b) => !adjacent(graph, a, b) || colors[a] !== colors[b]);
  return isProper ? new Set(colors).size : undefined;
}

function hamiltonian(graph: Graph, cycle: List): number | undefined {
  if (cycle.length < 3 || !areDistinct(cycle, graph.vertices)) return undefined;
  return legs(cycle).every(([from, to]) => adjacent(graph, from, to)) ? cycle.length : undefined;
}

function knapsack({ capacity, weights, values }: KnapsackInstance, items: List): number | undefined {
  if (!areDistinct(items, weights.length)) return undefined;
  const fits = sum(items.map((item) => weights[item] as number)) <= capacity;
  return fits ? sum(items.map((item) => values[item] as number)) : undefined;
}

function meetings(instance: MeetingsInstance, schedule: Schedule): number | undefined {
  const { availability, rooms } = instance;
  const meetingOf = ({ meeting }: Placement): Meeting => instance.meetings[meeting] as Meeting;
  const held = schedule.map(({ meeting }) => meeting);
  if (!areDistinct(held, instance.meetings.length)) return undefined;
  if (!schedule.every(({ room }) => room >= 0 && room < rooms.length)) return undefined;
  const canMeet = schedule.every((placed) => {
    const { attendees, minutes } = meetingOf(placed);
    const isFree = (attendee: number): boolean =>
      availability[attendee]?.some(({ start, end }) => start <= placed.start && placed.start + minutes <= end) ?? false;
    return (rooms[placed.room] as number) >= attendees.length && attendees.every(isFree);
  });
  const noneClash = everyTwo(schedule, (one, other) => {
    const [a, b] = [meetingOf(one), meetingOf(other)];
    const overlap = Math.max(one.start, other.start) < Math.min(one.start + a.minutes, other.start + b.minutes);
    return !overlap || (one.room !== other.room && !a.attendees.some((attendee) => b.attendees.includes(attendee)));
  });
  return canMeet && noneClash ? sum(schedule.map((placed) => meetingOf(placed).attendees.length)) : undefined;
}

function setCover({ subsets }: SetCoverInstance, cover: List): number | undefined {
  if (!areDistinct(cover, subsets.rows)) return undefined;
  const universe = [...Array(subsets.columns).keys()];
  return universe.every((element) => cover.some((subset) => hasBit(subsets, subset, element)))
    ? cover.length
    : undefined;
}

function subsetSum({ target, numbers }: SubsetSumInstance, list: List): number | undefined {
  if (!areDistinct(list, numbers.length)) return undefined;
  return sum(list.map((index) => numbers[index] as number)) === target ? list.length : undefined;
}

function tsp(instance: TspInstance, tour: List): number | undefined {
  if (!areAll(tour, instance.cities)) return undefined;
  return sum(legs(tour).map(([from, to]) => distanceBetween(instance, from, to)));
}

/** Each digit of the result by its place, from the digits given. */
function sequence(digitAt: (given: List, place: number, symbols: number) => number | undefined) {
  return ({ symbols, sequence: given }: SequenceInstance, result: List): number | undefined => {
    const isRight = result.every((digit, place) => digit === digitAt(given, place, symbols));
    return isRight && result.length === given.length ? 1 : undefined;
  };
}

/** Returns the number of given digits that are smaller than this one. */
function countBelow(given: List, digit: number): number {
  return given.filter((each) => each < digit).length;
}

/** The worst case of the best strategy, by places and colours. 4 places and 6 colours: Knuth (1976). */
const WORST: Readonly<Record<string, number>> = { "3 4": 4, "4 4": 4, "3 6": 5, "4 6": 5 };

function mastermind({ secret, colours }: MastermindInstance, guess: List): number | undefined {
  const isRight = guess.length === secret.length && guess.every((colour, place) => colour === secret[place]);
  return isRight ? WORST[`${secret.length} ${colours}`] : undefined;
}

/** 3 calls, one more for each referral and each order that counts, and 5 more for a transfer. */
function ledger(
  { customers, accounts, orders, named, referrals, payer }: LedgerInstance,
  answer: number,
): number | undefined {
  let debtor = named;
  for (let i = 0; i < referrals; i++) debtor = customers[debtor]?.referredBy ?? -1;
  const amounts = orders.filter((each) => each.customer === debtor && each.isOpen).map(({ amount }) => amount);
  const before = payer === undefined ? 0 : (accounts[debtor]?.balance ?? 0);
  return answer === before + sum(amounts) ? 3 + referrals + amounts.length + (payer === undefined ? 0 : 5) : undefined;
}

/** Moves of a way that begins at the start, passes no wall and ends at the exit. Directions are numbered from the north. */
function maze({ size, start, exit, open }: MazeInstance, way: List): number | undefined {
  let [row, column] = [Math.floor(start / size), start % size];
  for (const direction of way) {
    const down = [-1, 0, 1, 0][direction] ?? size;
    const right = [0, 1, 0, -1][direction] ?? size;
    const before = row * size + column;
    [row, column] = [row + down, column + right];
    const isInside = row >= 0 && row < size && column >= 0 && column < size;
    const opening = open[Math.min(before, row * size + column)] ?? 0;
    if (!isInside || (opening & (down === 0 ? 1 : 2)) === 0) return undefined;
  }
  return row * size + column === exit ? way.length : undefined;
}

export const definitions: Readonly<Record<string, Definition>> = {
  "games/mastermind": mastermind,
  "games/maze": maze,
  "np/bisection": bisection,
  "np/clique": vertexSet(true),
  "np/coloring": coloring,
  "np/hamiltonian": hamiltonian,
  "np/independent-set": vertexSet(false),
  "np/knapsack": knapsack,
  "np/meetings": meetings,
  "np/set-cover": setCover,
  "np/subset-sum": subsetSum,
  "np/tsp": tsp,
  "tools/ledger": ledger,
  "sequence/map": sequence((given, place, symbols) => tableOf(symbols)[given[place] as number]),
  "sequence/running-sum": sequence((given, place, symbols) => sum(given.slice(0, place + 1)) % symbols),
  "sequence/difference": sequence((given, place, symbols) =>
    [...Array(symbols).keys()].find((d) => ((given[place - 1] ?? 0) + d) % symbols === given[place]),
  ),
  "sequence/sort": sequence((given, place) =>
    given.find((digit) => countBelow(given, digit) <= place && place < countBelow(given, digit + 1)),
  ),
  "sequence/reverse": sequence((given, place) => given[given.length - 1 - place]),
};
