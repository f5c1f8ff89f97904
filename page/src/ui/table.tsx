/** Table of few rows that scrolls sideways if it is wider than the view. See rows.tsx for many rows. */
import type { ComponentChildren } from "preact";

interface TableProps {
  readonly label: string;
  readonly columns: readonly ComponentChildren[];
  /** Number of leading columns that hold words instead of numbers. */
  readonly words: number;
  readonly class?: string;
  /** Rows of the table. */
  readonly children: ComponentChildren;
}

export function Table({ label, columns, words, class: name = "", children }: TableProps) {
  return (
    <div class="wide-table" tabIndex={0} role="region" aria-label={`${label}, a table`}>
      <table class={name}>
        <thead>
          <tr>
            {columns.map((column, at) => (
              <th key={at} scope="col" class={at < words ? "words" : ""}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
