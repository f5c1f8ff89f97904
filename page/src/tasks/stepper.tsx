/** Input that steps through seeds. */
import { useEffect, useState } from "preact/hooks";
import { refine } from "../address.ts";
import { seedOf } from "./choice.ts";

export function Stepper({ seed }: { readonly seed: bigint }) {
  const [typed, setTyped] = useState(String(seed));
  useEffect(() => setTyped(String(seed)), [seed]);
  const to = (next: bigint) => refine({ seed: String(seedOf(String(next))) });
  return (
    <div class="field" role="group" aria-label="Seed">
      <span>Seed</span>
      <div class="stepper">
        <button type="button" aria-label="The seed before" disabled={seed === 0n} onClick={() => to(seed - 1n)}>
          ‹
        </button>
        <input
          aria-label="Seed"
          inputMode="numeric"
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
          onChange={(event) => to(seedOf(event.currentTarget.value.trim()))}
        />
        <button type="button" aria-label="The next seed" onClick={() => to(seed + 1n)}>
          ›
        </button>
      </div>
    </div>
  );
}
