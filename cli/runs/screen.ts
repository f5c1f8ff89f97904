/**
 * Draws on the terminal's second screen, as full-screen programs do. Its content disappears on exit, and a resize
 * damages no earlier output. All common terminals know these control sequences. The last pair, BEGIN and END, holds a
 * frame back until the frame is complete. Terminals that do not know this pair ignore it.
 */
import { shown } from "../../server/runtime/terminal.ts";

/** Members of process.stdout that the screen uses. */
export interface ScreenOut {
  readonly columns: number;
  readonly rows: number;
  write(text: string): unknown;
  on(event: "resize", listener: () => void): unknown;
  off(event: "resize", listener: () => void): unknown;
}

const ENTER = "\x1b[?1049h\x1b[?25l";
const LEAVE = "\x1b[?25h\x1b[?1049l";
const HOME = "\x1b[H";
const CLEAR_LINE = "\x1b[K";
const CLEAR_BELOW = "\x1b[J";
const [BEGIN, END] = ["\x1b[?2026h", "\x1b[?2026l"];

export function openScreen(out: ScreenOut) {
  let last: ((columns: number) => readonly string[]) | undefined;
  let open = true;
  const show = (): void => {
    if (!open || last === undefined) return;
    // A terminal that does not tell its size says 0.
    const [columns, rows] = [out.columns || 80, out.rows || 24];
    const lines = fitting(last(columns), rows).map((line) => shown(line).slice(0, columns) + CLEAR_LINE);
    out.write(`${BEGIN}${HOME}${lines.join("\r\n")}${CLEAR_BELOW}${END}`);
  };
  const close = (): void => {
    if (!open) return;
    open = false;
    out.off("resize", show);
    process.off("exit", close);
    out.write(LEAVE);
  };
  out.write(ENTER);
  out.on("resize", show);
  // Restore the terminal however the process ends.
  process.on("exit", close);
  return {
    /** Shows what `frame` returns for the width, now and after each resize. Lines that do not fit are left out. */
    draw(frame: (columns: number) => readonly string[]): void {
      last = frame;
      show();
    },
    /** Returns to the terminal's first screen. A second call does nothing. */
    close,
  };
}

function fitting(lines: readonly string[], rows: number): readonly string[] {
  if (lines.length <= rows) return lines;
  const shown = Math.max(0, rows - 1);
  return [...lines.slice(0, shown), `… ${lines.length - shown} more lines: the terminal is too low`];
}
