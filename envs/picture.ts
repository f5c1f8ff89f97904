/**
 * What a picture is. Gradus draws its own environments beside them (pictures/), so that no verifier loads that; an
 * environment from elsewhere brings its picture as `draw`.
 */

/** An element of SVG. Numbers are written to a tenth; what is undefined is left out. */
export interface Shape {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string | number | undefined>>;
  readonly content: string | readonly Shape[];
}

export interface LegendEntry {
  readonly mark: "dot" | "box" | "line" | "hatch";
  /** A class of the style sheet in pictures/lib/svg.ts. */
  readonly className: string;
  readonly text: string;
}

export interface Picture {
  /** Of the area that the shapes take, from (0, 0), in pixels. */
  readonly width: number;
  readonly height: number;
  readonly shapes: readonly Shape[];
  /** What the marks that occur mean. */
  readonly legend: readonly LegendEntry[];
  /** What cannot be drawn, in words: for example numbers of vertices that do not exist. */
  readonly notes: readonly string[];
}
