/** Shows the values of a chart: at the pointer or the keyboard's position, and as a table and files. */
import { useState } from "preact/hooks";
import { count } from "../words.ts";
import { csvOf, type FigureRow, type Figures, fileName, type Reading } from "./figures.ts";
import { save, svgOf } from "./save.ts";
import { Swatch } from "./swatch.tsx";
import { Table } from "./table.tsx";

interface PointedProps {
  readonly reading: Reading;
  /** Horizontal position in the chart, and the chart's width, in pixels. */
  readonly left: number;
  readonly width: number;
}

/** Values of all curves at one position of a chart, beside a line at the position. */
export function Pointed({ reading: { at, values, more }, left, width }: PointedProps) {
  const side = left < width / 2 ? { left: `${left + 8}px` } : { right: `${width - left + 8}px` };
  return (
    <div class="pointed" aria-hidden="true">
      <span class="rule" style={{ left: `${left}px` }} />
      <div class="reading" style={side}>
        <b>{at}</b>
        {values.map(({ curve: { name, pen }, words }, place) => (
          <span key={place}>
            <Swatch pen={pen} />
            {name} <b>{words}</b>
          </span>
        ))}
        {more > 0 && <span>and {more} more, in the table</span>}
      </div>
    </div>
  );
}

interface ValuesProps {
  readonly figures: Figures;
  readonly rows: readonly FigureRow[];
  /** Returns the chart's element. */
  readonly chart: () => SVGSVGElement | null | undefined;
}

/** Table of a chart's values, and buttons that save the chart. Closed until the reader opens it. */
export function Values({ figures, rows, chart }: ValuesProps) {
  const { name, axis, curves } = figures;
  const [open, setOpen] = useState(false);
  const saveSvg = () => {
    const drawn = chart();
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
}
