/** A progress bar on standard error, shown only if that is a terminal. */
import { Presets, SingleBar } from "cli-progress";

export interface Progress {
  step(): void;
  stop(): void;
}

/** Shows the progress of `total` steps under the label. */
export function createProgress(label: string, total: number): Progress {
  if (!process.stderr.isTTY) return { step: () => undefined, stop: () => undefined };
  const format = `${label} {bar} {value}/{total}  {eta_formatted} left`;
  const bar = new SingleBar({ format, stream: process.stderr, clearOnComplete: true }, Presets.shades_classic);
  bar.start(total, 0);
  return { step: () => bar.increment(), stop: () => bar.stop() };
}
