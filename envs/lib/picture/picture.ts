/** What an environment draws: the shapes, and what they mean in words. drawTask (envs/draw.ts) frames it. */
import type { Shape } from "./svg.ts";

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface LegendEntry {
  readonly mark: "dot" | "box" | "line" | "hatch";
  /** A class of style.ts. */
  readonly className: string;
  readonly text: string;
}

export interface Picture {
  /** Of the area that the shapes take, from (0, 0). */
  readonly width: number;
  readonly height: number;
  readonly shapes: readonly Shape[];
  /** What the marks that occur mean. */
  readonly legend: readonly LegendEntry[];
  /** What cannot be drawn, in words: for example numbers of vertices that do not exist. */
  readonly notes: readonly string[];
}

/** The entries of what occurs. */
export function legendOf(
  ...entries: readonly (readonly [occurs: boolean, mark: LegendEntry["mark"], className: string, text: string])[]
): readonly LegendEntry[] {
  return entries.filter(([occurs]) => occurs).map(([, mark, className, text]) => ({ mark, className, text }));
}

/** The notes of what there is to say. */
export function notesOf(...notes: readonly (string | undefined)[]): readonly string[] {
  return notes.filter((note) => note !== undefined);
}
