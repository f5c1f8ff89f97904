/** A table of few rows, which a reader moves sideways where it is wider than the view. Of many rows: rows.tsx. */
import type { ComponentChildren } from "preact";

interface TableProps {
  readonly label: string;
  readonly columns: readonly ComponentChildren[];
  /** How many columns, from the first, are of words rather than of figures. */
  readonly words: number;
  readonly class?: string;
  /** Its rows. */
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
