/**
 * A Map of numbers for entries that come and go with each call. V8's own cannot be used there. It moves to a new table
 * every few dozen deletions, and its old table points to the new one. After the first full garbage collection the tables
 * are old, and each keeps the next, with all that was in it, alive until the next full collection: no call is freed
 * cheaply again (docs/decisions/0008-wire.md). It iterates in the order of the keys, not of their insertion.
 */
export class LiveMap<V> implements Map<number, V> {
  // V8 keeps an object with such keys as a hash table, whose old tables point nowhere.
  #entries = Object.create(null) as Record<number, V>;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get [Symbol.toStringTag](): string {
    return "Map";
  }

  get(key: number): V | undefined {
    return this.#entries[key];
  }

  has(key: number): boolean {
    return key in this.#entries;
  }

  set(key: number, value: V): this {
    if (!(key in this.#entries)) this.#size += 1;
    this.#entries[key] = value;
    return this;
  }

  getOrInsert(key: number, value: V): V {
    return this.getOrInsertComputed(key, () => value);
  }

  getOrInsertComputed(key: number, make: (key: number) => V): V {
    if (!this.has(key)) this.set(key, make(key));
    return this.get(key) as V;
  }

  delete(key: number): boolean {
    if (!(key in this.#entries)) return false;
    delete this.#entries[key];
    this.#size -= 1;
    return true;
  }

  clear(): void {
    this.#entries = Object.create(null) as Record<number, V>;
    this.#size = 0;
  }

  forEach(visit: (value: V, key: number, map: Map<number, V>) => void, thisArg?: unknown): void {
    for (const [key, value] of this) visit.call(thisArg, value, key, this);
  }

  *entries(): MapIterator<[number, V]> {
    for (const key of this.keys()) yield [key, this.#entries[key] as V];
  }

  *keys(): MapIterator<number> {
    for (const text of Object.keys(this.#entries)) {
      const key = Number(text);
      // Like a Map's, an iteration passes over what was deleted meanwhile.
      if (this.has(key)) yield key;
    }
  }

  *values(): MapIterator<V> {
    for (const key of this.keys()) yield this.#entries[key] as V;
  }

  [Symbol.iterator](): MapIterator<[number, V]> {
    return this.entries();
  }
}
