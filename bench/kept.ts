/** What parts of a long run came to, kept line by line in a file: one that was broken off goes on where it was. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";

export interface Kept<Value> {
  /** What a part came to before; undefined: it was not played. */
  of(part: unknown): Value | undefined;
  keep(part: unknown, value: Value): void;
}

/** Parts and values are plain JSON; a part is known again by all that it says. Without a file nothing is kept. */
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
    // A line of its own even after one that was cut short by the end of its process.
    keep: (part, value) => appendFileSync(file, `\n${JSON.stringify([JSON.stringify(part), value])}`),
  };
}

/** Undefined: the line was cut short. */
function readLine<Value>(line: string): readonly [string, Value] | undefined {
  try {
    return JSON.parse(line) as readonly [string, Value];
  } catch {
    return undefined;
  }
}
