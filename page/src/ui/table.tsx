/** Table of few rows that scrolls sideways if it is wider than the view. See rows.tsx for many rows. */
import type { ComponentChildren } from "preact";
import { ColumnHead } from "./sorting.tsx";

interface TableProps {
  readonly label: string;
  readonly columns: readonly ComponentChildren[];
  /** Number of leading columns that hold words instead of numbers. */
  readonly words: number;
  /** Names of the columns by which the table can be sorted. Defaults to none. The caller sorts its rows. */
  readonly sortable?: readonly string[];
  readonly class?: string;
  /** Rows of the table. */
  readonly children: ComponentChildren;
}

const NONE: readonly string[] = [];

export function Table({ label, columns, words, sortable = NONE, class: name = "", children }: TableProps) {
  return (
    <div class="wide-table" tabIndex={0} role="region" aria-label={`${label}, a table`}>
      <table class={name}>
        <thead>
          <tr>
            {columns.map((column, at) => (
              <ColumnHead key={at} column={column} words={at < words} sortable={sortable} />
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
