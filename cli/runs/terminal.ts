/** The terminal that lines are written for. */

const WIDTH_DEFAULT = 80;

/** Columns; where standard output is no terminal, as many as fit everywhere. */
export function terminalWidth(): number {
  return process.stdout.columns || WIDTH_DEFAULT;
}
