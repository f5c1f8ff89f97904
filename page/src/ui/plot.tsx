/**
 * Draws a chart of Observable Plot. Charts are drawn one after the other, because many at once would block the page.
 */
import * as Plot from "@observablehq/plot";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Figures, nearest, readingOf, readingWords, rowsOf } from "./figures.ts";
import { Pointed, Values } from "./values.tsx";

export type PlotOptions = Plot.PlotOptions;

/** Axis options for shares from 0 to 1. */
export const SHARES = { percent: true, tickFormat: (value: number) => `${value}%` } as const;

let turn: Promise<void> = Promise.resolve();

/** Runs pieces of work one after the other, and lets the browser handle events in between. */
export function inTurn(work: () => void): void {
  turn = turn.then(async () => {
    try {
      work();
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
  /** Redraws the chart when one of these changes. */
  readonly inputs: readonly unknown[];
  /** Values of the chart, which must change only with `inputs`. Unset: the chart shows no values. */
  readonly figures?: Figures;
}

export function Chart({ label, height, options, inputs, figures }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const scale = useRef<Plot.Scale | undefined>(undefined);
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

interface ReadableProps extends Pick<ChartProps, "inputs"> {
  readonly figures: Figures;
  readonly place: { readonly current: HTMLDivElement | null };
  /** Horizontal scale of the chart as it was drawn last. */
  readonly scale: { readonly current: Plot.Scale | undefined };
  readonly children: ComponentChildren;
}

/**
 * Lets a reader see the values of a chart. The pointer, or the arrow keys of a slider that only the keyboard reaches,
 * chooses the position.
 */
function Readable({ figures, inputs, place, scale, children }: ReadableProps) {
  const rows = useMemo(() => rowsOf(figures.curves), inputs);
  const [at, setAt] = useState<number>();
  const last = rows.length - 1;
  const shown = Math.min(at ?? last, last);
  const row = rows[shown];
  if (row === undefined) return <>{children}</>;
  const reading = readingOf(figures, row);
  const point = ({ clientX, currentTarget }: PointerEvent & { readonly currentTarget: HTMLElement }) => {
    const x = scale.current?.invert?.(clientX - currentTarget.getBoundingClientRect().left) as number | undefined;
    if (x !== undefined) setAt(nearest(rows, x));
  };
  return (
    <>
      <div class="readable" onPointerMove={point} onPointerDown={point} onPointerLeave={() => setAt(undefined)}>
        {children}
        <input
          type="range"
          aria-label={`${figures.name}: position`}
          aria-valuetext={readingWords(reading)}
          min={0}
          max={last}
          value={shown}
          onFocus={() => setAt(shown)}
          onBlur={() => setAt(undefined)}
          onInput={(event) => setAt(Number(event.currentTarget.value))}
        />
        {at !== undefined && scale.current !== undefined && (
          <Pointed
            reading={reading}
            left={scale.current.apply(row.x) as number}
            width={place.current?.clientWidth ?? 0}
          />
        )}
      </div>
      <Values figures={figures} rows={rows} chart={() => place.current?.querySelector("svg")} />
    </>
  );
}
