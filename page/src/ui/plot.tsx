/** A chart of Observable Plot, drawn when its turn has come: many of them at once would hold up the reader's clicks. */
import * as Plot from "@observablehq/plot";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

export type PlotOptions = Plot.PlotOptions;

/** The axis of shares, which are from 0 to 1. */
export const SHARES = { percent: true, tickFormat: (value: number) => `${value}%` } as const;

let turn: Promise<void> = Promise.resolve();

/** Runs one piece of work after the other, with room for the reader in between. */
export function inTurn(work: () => void): void {
  turn = turn.then(async () => {
    try {
      work();
    } catch (error) {
      // Told as any fault of the page is; the others are drawn all the same.
      reportError(error);
    }
    await new Promise((resolve) => setTimeout(resolve));
  });
}

export interface ChartProps {
  /** What is seen, for those who do not see it. */
  readonly label: string;
  readonly height: number;
  readonly options: (width: number) => PlotOptions;
  /** It is drawn again when one of these changes. */
  readonly inputs: readonly unknown[];
}

export function Chart({ label, height, options, inputs }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
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
    const draw = () => {
      if (left) return;
      const drawn = Plot.plot({ ...options(width), width, height, className: "chart" });
      // The page's policy refuses style elements; style/charts.css has what this one says.
      for (const style of drawn.querySelectorAll("style")) style.remove();
      // The chart is one picture with one name. Its parts keep their kinds, e.g. "line", for tests.
      for (const part of drawn.querySelectorAll("[aria-label]")) {
        part.setAttribute("data-mark", part.getAttribute("aria-label") ?? "");
        part.removeAttribute("aria-label");
      }
      drawn.setAttribute("role", "img");
      drawn.setAttribute("aria-label", label);
      place.current?.replaceChildren(drawn);
    };
    inTurn(draw);
    return () => {
      left = true;
    };
  }, [width, label, height, ...inputs]);
  return <div class="chart-place" ref={place} style={{ minHeight: `${height}px` }} />;
}
