/** Which groups of a list are chosen, as the address holds it: by their places in the run, e.g. "0-3,7". */

/** What is chosen, as short as it can be said. */
export function rangesOf(places: readonly number[]): string {
  const ranges: [from: number, to: number][] = [];
  for (const place of [...new Set(places)].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && place === last[1] + 1) last[1] = place;
    else ranges.push([place, place]);
  }
  return ranges.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(",");
}

/** Whether a place is among those that an address has; what is no range in it says nothing. */
export function chosenIn(text: string): (place: number) => boolean {
  const ranges = text.split(",").flatMap((part) => {
    const found = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(part);
    return found === null ? [] : [[Number(found[1]), Number(found[2] ?? found[1])] as const];
  });
  return (place) => ranges.some(([from, to]) => from <= place && place <= to);
}
