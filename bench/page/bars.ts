/** What is asked of the page, and how what was measured stands to it. */
export interface Figure {
  readonly name: string;
  readonly unit: "ms" | "KB" | "% of a core";
  readonly value: number;
  /** At most; undefined: told for what it is. */
  readonly bar?: number;
  /** Of how many measurements the value is the median. */
  readonly of: number;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.floor(middle)] ?? NaN) + (sorted[Math.ceil(middle) - 1] ?? NaN)) / 2;
}

/** The median of several. */
export function figure(name: string, unit: Figure["unit"], values: readonly number[], bar?: number): Figure {
  const value = Number(median(values).toPrecision(3));
  return { name, unit, value, ...(bar !== undefined && { bar }), of: values.length };
}

export const isMissed = ({ value, bar }: Figure): boolean => bar !== undefined && !(value <= bar);

export function tableOf(figures: readonly Figure[]) {
  return figures.map(({ name, unit, value, bar, of }) => ({
    figure: name,
    value,
    unit,
    bar: bar === undefined ? "" : `≤ ${bar}`,
    "": isMissed({ name, unit, value, of, ...(bar !== undefined && { bar }) }) ? "missed" : "",
    of,
  }));
}
