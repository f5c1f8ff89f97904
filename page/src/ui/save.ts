/** Saves a chart as a file that the browser makes. */
import type { Curve } from "./marks.ts";

/** Time after which the object URL of a saved file is revoked, in milliseconds. */
const RELEASE_MS = 30_000;

export function save(name: string, type: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), RELEASE_MS);
}

const NAMESPACE = "http://www.w3.org/2000/svg";

function element(name: string, attributes: Readonly<Record<string, string | number>>, text = ""): SVGElement {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, String(value));
  made.textContent = text;
  return made;
}

/** Width and height of an entry of the legend, in pixels. */
const [ENTRY_PX, LINE_PX] = [210, 18];

/**
 * Returns a chart as an SVG file, with its legend below. Colours and fonts are written out, because the file has no
 * access to the page's styles.
 */
export function svgOf(chart: SVGSVGElement, name: string, curves: readonly Curve[]): string {
  const copy = chart.cloneNode(true) as SVGSVGElement;
  const width = chart.width.baseVal.value;
  const columns = Math.max(1, Math.floor(width / ENTRY_PX));
  const top = chart.height.baseVal.value;
  const height = top + LINE_PX * (Math.ceil(curves.length / columns) + 1);
  const legend = element("g", { "text-anchor": "start" });
  for (const [at, { name: words, pen }] of curves.entries()) {
    const [x, y] = [8 + ENTRY_PX * (at % columns), top + LINE_PX * (1 + Math.floor(at / columns))];
    const dashes = { "stroke-width": 3, "stroke-dasharray": pen.dash ?? "none" };
    legend.append(
      element("path", { d: `M${x} ${y - 4}h22`, stroke: pen.ink, ...dashes }),
      element("text", { x: x + 28, y }, words),
    );
  }
  copy.prepend(element("title", {}, name), element("rect", { width, height, fill: "var(--panel)" }));
  copy.append(legend);
  copy.setAttribute("height", String(height));
  copy.setAttribute("viewBox", `0 0 ${width} ${height}`);
  writeOutStyles(copy, chart);
  return new XMLSerializer().serializeToString(copy);
}

/**
 * Replaces the page's colour variables by colours. The browser computes colours only for elements in the page, so the
 * copy is added to the page for a moment.
 */
function writeOutStyles(copy: SVGSVGElement, chart: SVGSVGElement): void {
  chart.parentElement?.append(copy);
  const { fontFamily, color } = getComputedStyle(copy);
  const colours = [copy, ...copy.querySelectorAll("*")].flatMap((part) =>
    ["fill", "stroke"].flatMap((name) =>
      /var\(|currentColor/.test(part.getAttribute(name) ?? "")
        ? [{ part, name, colour: getComputedStyle(part).getPropertyValue(name) }]
        : [],
    ),
  );
  for (const { part, name, colour } of colours) part.setAttribute(name, colour);
  copy.setAttribute("font-family", fontFamily);
  copy.setAttribute("color", color);
  copy.remove();
}
