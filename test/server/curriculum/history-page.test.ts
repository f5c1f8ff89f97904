/** Tests of where the pages of a history end. */
import { expect, test } from "vitest";
import { historyPage, PAGE_CHARACTERS_MAX } from "../../../server/runs/history-page.ts";
import type { StoredRecord } from "../../../server/stores/store.ts";

function storeOf(sizes: readonly number[]) {
  const all = sizes.map((size, seq): StoredRecord => ({ seq, body: "x".repeat(size) }));
  return {
    records: async (_: number, from: number, limit: number) => all.filter(({ seq }) => seq >= from).slice(0, limit),
  };
}

/** Returns the number of records on each page. */
async function pages(sizes: readonly number[], limit: number): Promise<readonly number[]> {
  const counts: number[] = [];
  let from: number | undefined = 0;
  while (from !== undefined) {
    const page: Awaited<ReturnType<typeof historyPage>> = await historyPage(storeOf(sizes), 1, {
      from,
      limit,
      armCount: 2,
    });
    expect(page.placed.map(({ seq }) => seq)).toEqual(page.placed.map((_, i) => (from ?? 0) + i));
    counts.push(page.placed.length);
    from = page.next;
  }
  return counts;
}

test("a page has as many records as were asked for, where they are small", async () => {
  expect(await pages(new Array<number>(250).fill(10), 100)).toEqual([100, 100, 50]);
  expect(await pages([], 100)).toEqual([0]);
});

test("a page ends before it is too long, and holds one record at least", async () => {
  const third = PAGE_CHARACTERS_MAX / 3;
  expect(await pages(new Array<number>(7).fill(third), 100)).toEqual([3, 3, 1]);
  expect(await pages([5 * third, 1, 5 * third], 100)).toEqual([1, 1, 1]);
  expect(await pages(new Array<number>(200).fill(PAGE_CHARACTERS_MAX / 150), 1000)).toEqual([150, 50]);
});
