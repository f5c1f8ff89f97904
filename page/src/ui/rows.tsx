/** Table that lays out only the visible rows. */
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from "@tanstack/virtual-core";
import type { ComponentChildren } from "preact";
import { memo } from "preact/compat";
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";
import { ColumnHead } from "./sorting.tsx";

const ROW_PX = 35;

interface RowsProps {
  readonly label: string;
  readonly columns: readonly string[];
  /** Indices of the columns with words instead of numbers. Defaults to the first two. */
  readonly words?: readonly number[];
  /** Names of the columns by which the table can be sorted. Defaults to none. The caller sorts its rows. */
  readonly sortable?: readonly string[];
  readonly count: number;
  readonly keyOf: (at: number) => string | number;
  readonly row: (at: number) => readonly ComponentChildren[];
}

const FIRST_TWO: readonly number[] = [0, 1];

const NONE: readonly string[] = [];

export function Rows({ label, columns, words = FIRST_TWO, sortable = NONE, count, keyOf, row }: RowsProps) {
  const place = useRef<HTMLDivElement>(null);
  const [, redraw] = useReducer((times: number) => times + 1, 0);
  const options = {
    count,
    getScrollElement: () => place.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => redraw(undefined),
  };
  const [virtual] = useState(() => new Virtualizer<HTMLDivElement, Element>(options));
  virtual.setOptions(options);
  useEffect(() => virtual._didMount(), []);
  useLayoutEffect(() => virtual._willUpdate());
  const items = virtual.getVirtualItems();
  const above = items[0]?.start ?? 0;
  const below = virtual.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    <div class="rows" ref={place} tabIndex={0} role="region" aria-label={`${label}, a table`}>
      <table aria-rowcount={count + 1}>
        <thead>
          <tr>
            {columns.map((column, at) => (
              <ColumnHead key={column} column={column} words={words.includes(at)} sortable={sortable} />
            ))}
          </tr>
        </thead>
        <tbody>
          <Blank height={above} span={columns.length} />
          {items.map(({ index }) => (
            <Row key={keyOf(index)} index={index} row={row} words={words} />
          ))}
          <Blank height={below} span={columns.length} />
        </tbody>
      </table>
    </div>
  );
}

/**
 * Row that renders only when its props change. `row` stays the same while the table scrolls, so visible rows are not
 * rendered again.
 */
const Row = memo(function Row({
  index,
  row,
  words,
}: Pick<RowsProps, "row"> & { readonly index: number; readonly words: readonly number[] }) {
  return (
    <tr aria-rowindex={index + 2}>
      {row(index).map((cell, at) =>
        at === 0 ? (
          <th key={at} scope="row">
            {cell}
          </th>
        ) : (
          <td key={at} class={words.includes(at) ? "words" : ""}>
            {cell}
          </td>
        ),
      )}
    </tr>
  );
});

/** Empty space in place of the rows that are not laid out. */
function Blank({ height, span }: { readonly height: number; readonly span: number }) {
  if (height <= 0) return null;
  return (
    <tr aria-hidden="true">
      <td colSpan={span} style={{ height: `${height}px`, padding: 0 }} />
    </tr>
  );
}
