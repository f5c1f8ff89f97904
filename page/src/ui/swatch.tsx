/** Short piece of a chart's line, for the legend. */
import type { Pen } from "./colours.ts";

export function Swatch({ pen: { ink, dash } }: { readonly pen: Pen }) {
  return (
    <svg class="swatch" viewBox="0 0 22 8" aria-hidden="true">
      <line x1="0" y1="4" x2="22" y2="4" stroke={ink} stroke-width="4" stroke-dasharray={dash} />
    </svg>
  );
}
