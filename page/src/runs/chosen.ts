/** Encodes the chosen groups of a list in the address, by their positions in the run, e.g. "0-3,7". */

/** Returns positions as a text of ranges, in the shortest form, e.g. "0-3,7". */
export function rangesOf(places: readonly number[]): string {
  const ranges: [from: number, to: number][] = [];
  for (const place of [...new Set(places)].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && place === last[1] + 1) last[1] = place;
    else ranges.push([place, place]);
  }
  return ranges.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(",");
}

/** Returns a function that tells whether a position is in a text of ranges, e.g. "0-3,7". Ignores invalid parts. */
export function chosenIn(text: string): (place: number) => boolean {
  const ranges = text.split(",").flatMap((part) => {
    const found = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(part);
    return found === null ? [] : [[Number(found[1]), Number(found[2] ?? found[1])] as const];
  });
  return (place) => ranges.some(([from, to]) => from <= place && place <= to);
}
