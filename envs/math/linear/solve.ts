/** Solves linear equations exactly, and computes the work of solving them by hand. */
import { add, divide, equalsInteger, fromInteger, multiply, type Rational, subtract } from "../../lib/rational.ts";
import { digitsOf, productWork, sumWork } from "../work.ts";
import { flipped, type LinearInstance, type Relation, type Statement, type Term } from "./statement.ts";

export interface Solved {
  /** Values of the unknowns, in the order of their names. For an inequality, its bound. */
  readonly values: readonly Rational[];
  /** Relation between unknown and value: "=", or the relation of the solved inequality. */
  readonly relation: Relation;
  /** Estimated work to solve by hand, in steps on single digits (envs/math/work.ts). */
  readonly work: number;
}

/** Equation "coefficients · unknowns + constant = 0": the coefficients of the unknowns, then the constant. */
type Row = readonly Rational[];

/** Work by hand of all operations so far, in steps on single digits. */
interface Calculation {
  work: number;
}

/** Returns the solution of the equations or the inequality of a task. Undefined if there is none, or more than one. */
export function solveLinear({ names, statements }: LinearInstance): Solved | undefined {
  const calculation: Calculation = { work: 0 };
  const rows = statements.map((statement) => rowOf(statement, names.length, calculation));
  const values = eliminate(rows, names.length, calculation);
  if (values === undefined) return undefined;
  const [first] = statements;
  const [row] = rows;
  const relation = first?.relation ?? "=";
  const isNegative = relation !== "=" && (row?.[0]?.num ?? 0) < 0;
  return { values, relation: isNegative ? flipped(relation) : relation, work: calculation.work };
}

const ZERO = fromInteger(0);

function isZero(value: Rational): boolean {
  return equalsInteger(value, 0);
}

function isOne(value: Rational): boolean {
  return equalsInteger(value, 1) || equalsInteger(value, -1);
}

function plus(a: Rational, b: Rational, calculation: Calculation): Rational {
  if (!isZero(a) && !isZero(b)) calculation.work += sumWork(a, b);
  return add(a, b);
}

function times(a: Rational, b: Rational, calculation: Calculation): Rational {
  if (!isZero(a) && !isZero(b) && !isOne(a) && !isOne(b)) calculation.work += productWork(a, b);
  return multiply(a, b);
}

function over(a: Rational, b: Rational, calculation: Calculation): Rational {
  return times(a, divide(fromInteger(1), b) ?? ZERO, calculation);
}

/**
 * Returns an equation or inequality as a row of a matrix: multiplies out its groups, moves all terms to the left side,
 * and collects them.
 */
function rowOf({ left, right }: Statement, unknowns: number, calculation: Calculation): Row {
  const row: Rational[] = Array.from({ length: unknowns + 1 }, () => ZERO);
  const put = (term: Term, factor: Rational): void => {
    if (term.kind === "group") {
      const outer = times(term.factor, factor, calculation);
      for (const inner of term.terms) put(inner, outer);
      return;
    }
    const at = term.kind === "unknown" ? term.index : unknowns;
    const value = term.kind === "unknown" ? term.coefficient : term.value;
    row[at] = plus(row[at] as Rational, times(value, factor, calculation), calculation);
  };
  for (const term of left) put(term, fromInteger(1));
  for (const term of right) put(term, fromInteger(-1));
  return row;
}

/**
 * Solves a system by Gauss–Jordan elimination. The pivot of a column is its entry with the fewest digits. Returns
 * undefined if there is no unique solution.
 */
function eliminate(given: readonly Row[], unknowns: number, calculation: Calculation): Row | undefined {
  if (given.length !== unknowns) return undefined;
  const rows = [...given];
  for (let column = 0; column < unknowns; column++) {
    const pivot = pivotOf(rows, column);
    if (pivot < 0) return undefined;
    [rows[column], rows[pivot]] = [rows[pivot] as Row, rows[column] as Row];
    const chosen = rows[column] as Row;
    for (let i = 0; i < unknowns; i++) {
      const row = rows[i] as Row;
      const entry = row[column] as Rational;
      if (i === column || isZero(entry)) continue;
      const factor = over(entry, chosen[column] as Rational, calculation);
      rows[i] = row.map((value, j) => {
        if (j === column) return ZERO;
        const taken = times(factor, chosen[j] as Rational, calculation);
        return plus(value, subtract(ZERO, taken), calculation);
      });
    }
  }
  return rows.map((row, i) => over(subtract(ZERO, row[unknowns] as Rational), row[i] as Rational, calculation));
}

function pivotOf(rows: readonly Row[], column: number): number {
  const lengthOf = (row: Row | undefined): number => {
    const { num, den } = row?.[column] as Rational;
    return num === 0 ? Infinity : digitsOf(num) + digitsOf(den);
  };
  let best = -1;
  for (let i = column; i < rows.length; i++) {
    const length = lengthOf(rows[i]);
    if (length < Infinity && (best < 0 || length < lengthOf(rows[best]))) best = i;
  }
  return best;
}
