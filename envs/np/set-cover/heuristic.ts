/**
 * Finds a small cover greedily: repeatedly adds the subset with the most uncovered elements, then removes unneeded
 * subsets. Then replaces two subsets by one as long as everything stays covered. The papers' public code begins in the
 * same way, but then anneals until a time limit.
 */
import { type BitMatrix, onesOf } from "../../lib/bit-matrix.ts";
import { pairs } from "../../lib/graph.ts";
import type { IndexList as Cover } from "../../lib/parse-lists.ts";
import type { SetCoverInstance } from "./generate.ts";

type Lists = readonly ReadonlySet<number>[];

export function heuristic({ subsets }: SetCoverInstance): Cover {
  const lists: Lists = Array.from({ length: subsets.rows }, (_, row) => new Set(onesOf(subsets, row)));
  let cover = needed(subsets, lists, greedy(subsets, lists));
  for (;;) {
    const smaller = twoForOne(subsets, lists, cover);
    if (smaller === undefined) return cover.toSorted((a, b) => a - b);
    cover = needed(subsets, lists, smaller);
  }
}

function greedy({ columns }: BitMatrix, lists: Lists): readonly number[] {
  const cover: number[] = [];
  const open = new Set(Array.from({ length: columns }, (_, element) => element));
  while (open.size > 0) {
    const gains = lists.map((list) => list.intersection(open).size);
    const next = gains.indexOf(Math.max(...gains));
    cover.push(next);
    for (const element of lists[next] ?? []) open.delete(element);
  }
  return cover;
}

function covers({ columns }: BitMatrix, lists: Lists, cover: readonly number[]): boolean {
  return new Set(cover.flatMap((subset) => [...(lists[subset] ?? [])])).size === columns;
}

function needed(subsets: BitMatrix, lists: Lists, cover: readonly number[]): readonly number[] {
  let kept = cover;
  for (const subset of cover) {
    const rest = kept.filter((other) => other !== subset);
    if (covers(subsets, lists, rest)) kept = rest;
  }
  return kept;
}

function twoForOne(subsets: BitMatrix, lists: Lists, cover: readonly number[]): readonly number[] | undefined {
  for (const [i, j] of pairs(cover.length)) {
    const rest = cover.filter((_, place) => place !== i && place !== j);
    const one = lists.findIndex((_, subset) => covers(subsets, lists, [...rest, subset]));
    if (one >= 0) return [...rest, one];
  }
  return undefined;
}
