/** Servers of one store whose answers come in any order. */
import { expect, test } from "vitest";
import { memoryStore } from "../../../server/stores/memory.ts";
import type { Store } from "../../../server/stores/store.ts";
import { bench, runConfig, value } from "./support.ts";

test("a run is found by who created it, though another call began to look for it before", async () => {
  const kept = memoryStore();
  const looking = Promise.withResolvers<void>();
  let looks = 0;
  const store: Store = {
    ...kept,
    // As over several connections: the first answer comes last.
    find: async (id) => {
      const found = await kept.find(id);
      if (looks++ === 0) await looking.promise;
      return found;
    },
  };
  const { runs } = bench({ store });
  const early = runs.get("run");
  const created = runs.create("run", runConfig());
  setImmediate(() => looking.resolve());
  expect(value(await created).created).toBe(true);
  expect((await early).kind).toBe("not_found");
});
