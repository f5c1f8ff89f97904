/** More than there can be entries at once. Larger numbers are no indices, for which a table is made. */
const PLACES = 2 ** 31;

/**
 * What is in progress, by number: a Map for entries that come and go with each call. V8's own Map cannot be used there.
 * It moves to a new table every few dozen deletions, and its old table points to the new one. After the first full
 * garbage collection the tables are old, and each keeps the next, with all that was in it, alive until the next full
 * collection: no call is freed cheaply again. That was a third of the server's CPU (docs/decisions/0008-wire.md).
 */
export class LiveTable<T> {
  // V8 keeps an object with such keys as a hash table, whose old tables point nowhere.
  readonly #entries: Record<number, T | undefined> = Object.create(null) as Record<number, T | undefined>;
  #size = 0;
  #place = 0;

  get size(): number {
    return this.#size;
  }

  get(key: number): T | undefined {
    return this.#entries[key];
  }

  set(key: number, value: T): this {
    if (this.#entries[key] === undefined) this.#size += 1;
    this.#entries[key] = value;
    return this;
  }

  /** Puts a value at a place of the table's choice, which it returns. A table that is used so should not be `set`. */
  add(value: T): number {
    do this.#place = (this.#place + 1) % PLACES;
    while (this.#entries[this.#place] !== undefined);
    this.set(this.#place, value);
    return this.#place;
  }

  delete(key: number): boolean {
    if (this.#entries[key] === undefined) return false;
    delete this.#entries[key];
    this.#size -= 1;
    return true;
  }

  forEach(visit: (value: T) => void): void {
    for (const value of Object.values(this.#entries)) if (value !== undefined) visit(value);
  }
}
