/** Shows the values of a chart: at the pointer or the keyboard's position, and as a table and files. */
import type { ComponentChildren } from "preact";
import { memo } from "preact/compat";
import { useMemo, useState } from "preact/hooks";
import { count } from "../words.ts";
import {
  csvOf,
  type FigureRow,
  type Figures,
  fileName,
  nearest,
  type Reading,
  readingOf,
  readingWords,
  rowsOf,
} from "./figures.ts";
import { save, svgOf } from "./save.ts";
import { Swatch } from "./swatch.tsx";
import { Table } from "./table.tsx";

/** Horizontal scale of a chart: from positions on its axis to pixels, and back. */
export interface Scale {
  readonly apply: (x: number) => number;
  readonly invert?: (pixels: number) => number;
}

interface Ref<T> {
  readonly current: T;
}

interface ReadableProps {
  readonly figures: Figures;
  /** Values on which the figures depend. The figures are read again when a value changes. */
  readonly inputs: readonly unknown[];
  readonly place: Ref<HTMLDivElement | null>;
  /** Scale of the chart as it was drawn last. */
  readonly scale: Ref<Scale | undefined>;
  readonly children: ComponentChildren;
}

/**
 * Lets a reader see the values of a chart. The pointer, or the arrow keys of a slider that only the keyboard reaches,
 * chooses the position.
 */
export function Readable({ figures: given, inputs, place, scale, children }: ReadableProps) {
  const { figures, rows } = useMemo(() => ({ figures: given, rows: rowsOf(given.curves) }), inputs);
  const [at, setAt] = useState<number>();
  const last = rows.length - 1;
  const shown = Math.min(at ?? last, last);
  const row = rows[shown];
  if (row === undefined) return <>{children}</>;
  const reading = readingOf(figures, row);
  const point = ({ clientX, currentTarget }: PointerEvent & { readonly currentTarget: HTMLElement }) => {
    const x = scale.current?.invert?.(clientX - currentTarget.getBoundingClientRect().left);
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
          <Pointed reading={reading} left={scale.current.apply(row.x)} width={place.current?.clientWidth ?? 0} />
        )}
      </div>
      <Values figures={figures} rows={rows} place={place} />
    </>
  );
}

interface PointedProps {
  readonly reading: Reading;
  /** Horizontal position in the chart, and the chart's width, in pixels. */
  readonly left: number;
  readonly width: number;
}

/** Values of all curves at one position of a chart, beside a line at the position. */
function Pointed({ reading: { at, values, more }, left, width }: PointedProps) {
  const side = left < width / 2 ? { left: `${left + 8}px` } : { right: `${width - left + 8}px` };
  return (
    <div class="pointed" aria-hidden="true">
      <span class="rule" style={{ left: `${left}px` }} />
      <div class="reading" style={side}>
        <b>{at}</b>
        {values.map(({ curve: { name, pen }, words }, index) => (
          <span key={index}>
            <Swatch pen={pen} />
            {name} <b>{words}</b>
          </span>
        ))}
        {more > 0 && <span>and {more} more, in the table</span>}
      </div>
    </div>
  );
}

interface ValuesProps extends Pick<ReadableProps, "figures" | "place"> {
  readonly rows: readonly FigureRow[];
}

/**
 * Table of a chart's values, and buttons that save the chart. Closed until the reader opens it. A large table must not
 * be rendered again with every move of the pointer.
 */
const Values = memo(function Values({ figures, rows, place }: ValuesProps) {
  const { name, axis, curves } = figures;
  const [open, setOpen] = useState(false);
  const saveSvg = () => {
    const drawn = place.current?.querySelector("svg");
    if (drawn) save(fileName(name, "svg"), "image/svg+xml", svgOf(drawn, name, curves));
  };
  return (
    <details class="values" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Values</summary>
      {open && (
        <>
          <p>
            <button type="button" class="quiet" onClick={() => save(fileName(name, "csv"), "text/csv", csvOf(figures))}>
              Save as CSV
            </button>{" "}
            <button type="button" class="quiet" onClick={saveSvg}>
              Save as SVG
            </button>
          </p>
          <Table label={`Values of ${name}`} columns={[axis, ...curves.map((curve) => curve.name)]} words={0}>
            {rows.map(({ x, values }) => (
              <tr key={x}>
                <td>{count(Math.round(x))}</td>
                {curves.map(({ words }, at) => (
                  <td key={at}>{values[at] === undefined ? "–" : words(values[at])}</td>
                ))}
              </tr>
            ))}
          </Table>
        </>
      )}
    </details>
  );
});
