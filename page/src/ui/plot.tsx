/**
 * Draws a chart of Observable Plot. Charts are drawn one after the other, because many at once would block the page.
 */
import type * as Observable from "@observablehq/plot";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Figures } from "./figures.ts";
import type { Marks, PlotLibrary } from "./marks.ts";
import { Readable, type Scale } from "./values.tsx";

export type PlotOptions = Omit<Observable.PlotOptions, "marks"> & { readonly marks: Marks };

let library: Promise<PlotLibrary> | undefined;

/** Loads the library, which has 76 KB and is not needed before the first chart. */
export const loadPlot = (): Promise<PlotLibrary> =>
  (library ??= import("@observablehq/plot").then(({ plot, areaY, dot, lineY, ruleX, ruleY, text }) => ({
    plot,
    areaY,
    dot,
    lineY,
    ruleX,
    ruleY,
    text,
  })));

/** Axis options for shares from 0 to 1. */
export const SHARES = { percent: true, tickFormat: (value: number) => `${value}%` } as const;

let turn: Promise<void> = Promise.resolve();

/** Runs pieces of work one after the other, and lets the browser handle events in between. */
export function inTurn(work: () => void | Promise<void>): void {
  turn = turn.then(async () => {
    try {
      await work();
    } catch (error) {
      // Report the error like any other of the page, and continue with the next chart.
      reportError(error);
    }
    await new Promise((resolve) => setTimeout(resolve));
  });
}

export interface ChartProps {
  /** Description for people who cannot see the chart. */
  readonly label: string;
  readonly height: number;
  readonly options: (width: number) => PlotOptions;
  /** Values on which the chart depends. The chart is redrawn when a value changes. */
  readonly inputs: readonly unknown[];
  /** Values of the chart, which must change only with `inputs`. Unset: the chart shows no values. */
  readonly figures?: Figures;
}

export function Chart({ label, height, options, inputs, figures }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const scale = useRef<Scale | undefined>(undefined);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setWidth(Math.floor(element.clientWidth)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (width === 0) return undefined;
    let left = false;
    const draw = async () => {
      const Plot = await loadPlot();
      if (left) return;
      const { marks, ...others } = options(width);
      const drawn = Plot.plot({ ...others, marks: marks.map((mark) => mark(Plot)), width, height, className: "chart" });
      // Remove Plot's style element, which the page's content security policy refuses. style/charts.css contains its
      // rules.
      for (const style of drawn.querySelectorAll("style")) style.remove();
      // Make the chart one image with one name. Its parts keep their kinds, e.g. "line", for tests.
      for (const part of drawn.querySelectorAll("[aria-label]")) {
        part.setAttribute("data-mark", part.getAttribute("aria-label") ?? "");
        part.removeAttribute("aria-label");
      }
      drawn.setAttribute("role", "img");
      drawn.setAttribute("aria-label", label);
      scale.current = drawn.scale("x");
      place.current?.replaceChildren(drawn);
    };
    inTurn(draw);
    return () => {
      left = true;
    };
  }, [width, label, height, ...inputs]);
  const drawing = <div class="chart-place" ref={place} style={{ minHeight: `${height}px` }} />;
  if (figures === undefined) return drawing;
  return (
    <Readable figures={figures} inputs={inputs} place={place} scale={scale}>
      {drawing}
    </Readable>
  );
}
