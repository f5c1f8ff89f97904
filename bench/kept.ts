/** Results of a long run's parts, appended line by line to a file. A run that was broken off resumes from them. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";

export interface Kept<Value> {
  /** Returns the kept result of a part, or undefined if the part has not been played. */
  of(part: unknown): Value | undefined;
  keep(part: unknown, value: Value): void;
}

/** Keeps results in a file of plain JSON. A part is found by its whole content. Without a file nothing is kept. */
export function keptIn<Value>(file: string | undefined): Kept<Value> {
  const known = new Map<string, Value>();
  if (file === undefined) return { of: () => undefined, keep: () => undefined };
  if (existsSync(file))
    for (const line of readFileSync(file, "utf8").split("\n")) {
      const read = readLine<Value>(line);
      if (read !== undefined) known.set(...read);
    }
  return {
    of: (part) => known.get(JSON.stringify(part)),
    // The leading newline keeps this line apart from one that was cut short when its process ended.
    keep: (part, value) => appendFileSync(file, `\n${JSON.stringify([JSON.stringify(part), value])}`),
  };
}

/** Returns the part and its value; undefined: the line was cut short. */
function readLine<Value>(line: string): readonly [string, Value] | undefined {
  try {
    return JSON.parse(line) as readonly [string, Value];
  } catch {
    return undefined;
  }
}
