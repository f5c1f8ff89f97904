/** What is asked of the page, and how what was measured stands to it. */
export interface Figure {
  readonly name: string;
  readonly unit: "ms" | "KB" | "% of a core";
  readonly value: number;
  readonly least: number;
  readonly most: number;
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

type Three = [number, number, number];

/** The median of several. */
export function figure(name: string, unit: Figure["unit"], values: readonly number[], bar?: number): Figure {
  const rounded = (number: number): number => Number(number.toPrecision(3));
  const [value, least, most] = [median(values), Math.min(...values), Math.max(...values)].map(rounded) as Three;
  return { name, unit, value, least, most, ...(bar !== undefined && { bar }), of: values.length };
}

export const isMissed = ({ value, bar }: Pick<Figure, "value" | "bar">): boolean =>
  bar !== undefined && !(value <= bar);

export function tableOf(figures: readonly Figure[]) {
  return figures.map((figure) => ({
    figure: figure.name,
    value: figure.value,
    "from, to": `${figure.least}, ${figure.most}`,
    unit: figure.unit,
    bar: figure.bar === undefined ? "" : `≤ ${figure.bar}`,
    "": isMissed(figure) ? "missed" : "",
    of: figure.of,
  }));
}
