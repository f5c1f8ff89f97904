import { closest, distance } from "fastest-levenshtein";

/** "; did you mean 'np/tsp'?", or nothing where no name is near. For the end of an error message. */
export function didYouMean(name: string, names: readonly string[]): string {
  if (names.length === 0) return "";
  const nearest = closest(name.slice(0, 64), [...names]);
  return distance(name.slice(0, 64), nearest) <= Math.max(2, nearest.length / 2) ? `; did you mean '${nearest}'?` : "";
}
