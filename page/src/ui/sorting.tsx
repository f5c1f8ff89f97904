/**
 * Sorts lists by a column. The address names the column in its parameter `sort`: "reward" sorts upwards and "-reward"
 * downwards. Without this parameter, a list keeps its own order.
 */
import type { ComponentChildren } from "preact";
import { address, named, refine } from "../address.ts";

type Value = string | number | undefined;

/** Returns the value of an item in each column that can be sorted, by the column's name. */
export type SortValues<T> = Readonly<Record<string, (item: T) => Value>>;

/** Returns the items in the order that the address names. Items without a value come last. */
export function sorted<T>(items: readonly T[], values: SortValues<T>): readonly T[] {
  const { sort = "" } = address.value.query;
  const of = named(values, sort.replace(/^-/, ""));
  if (of === undefined) return items;
  const sign = sort.startsWith("-") ? -1 : 1;
  return items.toSorted((one, other) => compare(of(one), of(other), sign));
}

/** Compares texts by their numbers, too: "run 2" comes before "run 10". */
const { compare: compareTexts } = new Intl.Collator("en", { numeric: true });

function compare(one: Value, other: Value, sign: number): number {
  const [lacksOne, lacksOther] = [lacks(one), lacks(other)];
  if (lacksOne || lacksOther) return Number(lacksOne) - Number(lacksOther);
  if (typeof one === "number" && typeof other === "number") return sign * (one - other);
  return sign * compareTexts(String(one), String(other));
}

function lacks(value: Value): boolean {
  return value === undefined || value === "" || Number.isNaN(value);
}

interface HeadProps {
  readonly column: ComponentChildren;
  /** Whether the column holds words instead of numbers. */
  readonly words: boolean;
  /** Names of the columns by which the list can be sorted. */
  readonly sortable: readonly string[];
}

/**
 * Head of a column. If the list can be sorted by the column, the head is a button that switches between upwards,
 * downwards, and the list's own order.
 */
export function ColumnHead({ column, words, sortable }: HeadProps) {
  const { sort = "" } = address.value.query;
  const kind = words ? "words" : "";
  if (typeof column !== "string" || !sortable.includes(column))
    return (
      <th scope="col" class={kind}>
        {column === "" ? <span class="hidden">Notes</span> : column}
      </th>
    );
  const isUp = sort === column;
  const isDown = sort === `-${column}`;
  const next = isUp ? `-${column}` : isDown ? undefined : column;
  return (
    <th scope="col" class={kind} aria-sort={isUp ? "ascending" : isDown ? "descending" : "none"}>
      <button type="button" class="sorts" onClick={() => refine({ sort: next })}>
        {column}
        <span aria-hidden="true">{isUp ? " ▲" : isDown ? " ▼" : ""}</span>
      </button>
    </th>
  );
}
