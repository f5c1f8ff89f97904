/** Types of the laws that environments obey, and of the subjects on which the tests check them. */
import type { Environment, Level, Solution, Solver, SyncEnvironment } from "../../../envs/environment.ts";
import type { Facts } from "../../../envs/facts.ts";
import type { Issued } from "../every.ts";
import type { Pool } from "../../../envs/pool.ts";
import type { Score, ScoreTask } from "../../../envs/score.ts";
import { share } from "../../support/share.ts";
import { casesOf, poolsOf, tasksOf } from "../every.ts";

/** An environment at one of its levels, and some tasks of it. */
export interface Subject<E extends Environment = SyncEnvironment> {
  readonly title: string;
  readonly environment: E;
  readonly level: Level;
  readonly tasks: readonly Issued[];
  readonly pools: ReadonlyMap<string, Pool>;
}

/** Something that holds for every environment that can do a certain thing. */
export interface Law<E extends Environment = SyncEnvironment> {
  readonly title: string;
  /** Whether the law concerns the environment. */
  appliesTo(environment: Environment): boolean;
  /** Fails, as a test does, where it does not hold. */
  check(subject: Subject<E>): void;
}

/** Tasks of a level that a law is held against: one of each split, or four with THOROUGH=1. */
export const TASKS = Math.max(3, share(12));

export function subjectsOf<E extends Environment>(environment: E): readonly Subject<E>[] {
  const pools = poolsOf([environment]);
  const [pool] = pools.values();
  return casesOf(environment).map((given) => ({ ...given, pools, tasks: tasksOf(given, pool, TASKS) }));
}

export const every = (): boolean => true;
export const isGenerated = ({ generator }: Environment): boolean => generator !== undefined;
export const isSolved = ({ solver }: Environment): boolean => solver !== undefined;

export function solverOf({ id, solver }: Environment): Solver<unknown, unknown> {
  if (solver === undefined) throw new Error(`${id} has no solver`);
  return solver;
}

type Solved = Solution<unknown> & { readonly text: string };

/** Solutions by solver and instance. */
const solutions = new WeakMap<Solver<unknown, unknown>, WeakMap<object, Solved>>();

/**
 * Returns the solver's answer to a task, and its text, computed once for all laws that use it. The law on the solver's
 * answers calls the solver itself.
 */
export function solved(environment: Environment, issued: Issued): Solved {
  const solver = solverOf(environment);
  const instance = issued.instance as object;
  const known = solutions.get(solver) ?? new WeakMap<object, Solved>();
  solutions.set(solver, known);
  const before = known.get(instance);
  if (before !== undefined) return before;
  const solution = solver.solve(instance);
  const found = { ...solution, text: solver.format(solution.answer) };
  known.set(instance, found);
  return found;
}

/**
 * Returns how many things an answer's numbers can name, numbered from 0; undefined if the environment does not say.
 */
export function countOf({ shape }: Environment, instance: unknown): number | undefined {
  return shape === undefined || shape.kind === "items" ? undefined : shape.count(instance);
}

/** Returns the smallest number that is too large to name a thing in an answer. */
export function outsideOf(environment: Environment, { instance }: Issued): number {
  return countOf(environment, instance) ?? 1_000_000;
}

/** Whether an answer with these facts counts: it keeps every constraint, or is graded as right. */
export function isTaken(facts: Facts): boolean {
  return facts.kind === "graded" ? facts.solved : facts.kind === "feasible";
}

/** The verdict on a right answer. */
export function verdictOf({ grading }: Environment): Score["verdict"] {
  return grading === undefined ? "feasible" : "graded";
}

/** Environments whose prompts show every answer that counts, the right one among them. */
export const CHOICES: readonly string[] = ["qa", "qa/letter"];

/** Returns whether a text earns no more than a trivial answer, such as one vertex as a clique. */
export function isNoBetterThanTrivial({ environment, instance }: ScoreTask, scored: Score): boolean {
  const { verdict, objective, solved } = scored;
  if (verdict === "graded") return !solved;
  const trivial = environment.trivial?.(instance);
  if (verdict !== "feasible") return true;
  if (objective === undefined || environment.goal === "satisfy") return false;
  if (trivial === undefined) return !scored.solved;
  return environment.goal === "maximize" ? objective <= trivial : objective >= trivial;
}
