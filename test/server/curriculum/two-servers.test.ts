/** Tests of servers of one store that answers in any order. */
import { expect, test } from "vitest";
import { memoryStore } from "../../../server/stores/memory.ts";
import type { Store } from "../../../server/stores/store.ts";
import { ask, bench, feedbackOf, runConfig, value } from "./support.ts";

test("a run is found by who created it, though another call began to look for it before", async () => {
  const kept = memoryStore();
  const looking = Promise.withResolvers<void>();
  let looks = 0;
  const store: Store = {
    ...kept,
    // The first answer comes last, as may happen over several connections.
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

test.each(["in order", "at once"])("a group that two servers are sent is RECORDED by one of them: %s", async (how) => {
  const store = memoryStore();
  const [one, two] = [bench({ store }).runs, bench({ store }).runs];
  value(await one.create("run", runConfig({ promptsPerUpdate: 1, numGenerations: 4 })));
  const { tasks } = value(await ask(one, "run", 1));
  const items = feedbackOf(tasks, 4);
  value(await two.get("run"));
  const sent = [one, two, one, two].map((runs) => () => runs.recordFeedback("run", items));
  const replies = [];
  if (how === "at once") replies.push(...(await Promise.all(sent.map((send) => send()))));
  else for (const send of sent) replies.push(await send());
  const kinds = replies.map((reply) => [...new Set(value(reply).map(({ kind }) => kind))].join());
  expect(kinds.toSorted()).toEqual(["duplicate", "duplicate", "duplicate", "recorded"]);
});
