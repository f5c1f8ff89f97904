/**
 * Defines a picture of an instance. The folder pictures/ has the functions for Gradus's own environments, so that
 * verifiers do not load them. An environment from outside this repository has a function `draw`.
 */

/** SVG element. Numbers are rounded to a tenth, and undefined attributes are omitted. */
export interface Shape {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string | number | undefined>>;
  readonly content: string | readonly Shape[];
}

export interface LegendEntry {
  readonly mark: "dot" | "box" | "line" | "hatch";
  /** Class in the style sheet of pictures/lib/svg.ts. */
  readonly className: string;
  readonly text: string;
}

export interface Picture {
  /** Width and height of the drawn area, in pixels. The area starts at (0, 0). */
  readonly width: number;
  readonly height: number;
  readonly shapes: readonly Shape[];
  /** Explanations of the marks in the picture. */
  readonly legend: readonly LegendEntry[];
  /** Remarks about anything that cannot be drawn, e.g. vertex numbers that do not exist. */
  readonly notes: readonly string[];
}
