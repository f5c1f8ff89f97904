import { lowestBit } from "../bit-matrix.ts";
import type { Search } from "./state.ts";

/**
 * Colours the candidates at a depth, class by class, and lists those whose colour leaves room for a larger clique, by
 * ascending colour: only they need branches. Returns how many there are.
 */
export function colour(s: Search, depth: number): number {
  const { words, classes, uncoloured, available, branches, colours } = s;
  // A clique within the classes up to this one, with what is chosen, is no larger than the largest found.
  const free = s.size - depth;
  const start = depth * s.vertices;
  for (let w = 0; w < words; w++) uncoloured[w] = s.candidates[depth * words + w]!;
  let count = 0;
  for (let k = 1; !isEmpty(uncoloured);) {
    classes.fill(0, k * words, (k + 1) * words);
    available.set(uncoloured);
    let kept = 0;
    for (let v = takeFirst(s); v >= 0; v = takeFirst(s)) {
      if (k > free) {
        if (recolour(s, v, free)) continue;
        branches[start + count] = v;
        colours[start + count++] = k;
      } else classes[k * words + (v >>> 5)]! |= 1 << (v & 31);
      kept++;
    }
    if (kept > 0) k++;
  }
  return count;
}

/** Takes the first available vertex out of the uncoloured, and its neighbours out of the available; −1: there is none. */
function takeFirst({ words, rows, uncoloured, available }: Search): number {
  for (let w = 0; w < words; w++) {
    const word = available[w]!;
    if (word === 0) continue;
    const v = w * 32 + lowestBit(word);
    const rest = ~(word & -word);
    uncoloured[w]! &= rest;
    available[w] = word & rest;
    for (let u = w, row = v * words; u < words; u++) available[u]! &= ~rows[row + u]!;
    return v;
  }
  return -1;
}

/**
 * Finds v a place in the classes up to `free`: in one where its only neighbour can go to another (Tomita et al., "A
 * simple and faster branch-and-bound algorithm for finding a maximum clique", 2010, section 3.2: Re-NUMBER).
 */
function recolour(s: Search, v: number, free: number): boolean {
  for (let k = 1; k <= free; k++) {
    const other = onlyNeighbour(s, v, k);
    if (other === SEVERAL) continue;
    if (other !== NONE && !moveAway(s, other, k, free)) continue;
    s.classes[k * s.words + (v >>> 5)]! |= 1 << (v & 31);
    return true;
  }
  return false;
}

const NONE = -1;
const SEVERAL = -2;

/** The one neighbour of v in a class, or NONE, or SEVERAL. */
function onlyNeighbour({ words, rows, classes }: Search, v: number, k: number): number {
  let found = NONE;
  for (let w = 0; w < words; w++) {
    const common = classes[k * words + w]! & rows[v * words + w]!;
    if (common === 0) continue;
    if (found !== NONE || (common & (common - 1)) !== 0) return SEVERAL;
    found = w * 32 + lowestBit(common);
  }
  return found;
}

/** Moves v from its class to another, up to `free`, that holds none of its neighbours. */
function moveAway(s: Search, v: number, from: number, free: number): boolean {
  for (let k = 1; k <= free; k++) {
    if (k === from || onlyNeighbour(s, v, k) !== NONE) continue;
    s.classes[from * s.words + (v >>> 5)]! &= ~(1 << (v & 31));
    s.classes[k * s.words + (v >>> 5)]! |= 1 << (v & 31);
    return true;
  }
  return false;
}

function isEmpty(set: Int32Array): boolean {
  for (const word of set) if (word !== 0) return false;
  return true;
}
