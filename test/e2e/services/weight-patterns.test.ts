/** Patterns in the weights of stages, tiers and domains stand for the arms that they match. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { openServer, type TestServer } from "../../support/in-process.ts";

let server: TestServer;
beforeAll(async () => {
  server = await openServer({ store: "memory" });
});
afterAll(() => server[Symbol.asyncDispose]());

const file = (policy: string): string => `arms:
  - { spec: { environment: np/t*, level: "*" } }
  - { id: easy, spec: { environment: np/tsp, level: easy } }
  - { id: a/easy, spec: { environment: np/tsp, level: easy } }
policy: ${policy}
num_generations: 2
prompts_per_update: 2
length: 20
`;

async function stagesOf(policy: string) {
  const { client } = server;
  const { config, problems } = await client.checkRun({ file: file(policy) });
  expect(problems).toEqual([]);
  const run = client.run(`patterns-${crypto.randomUUID()}`);
  const { state } = await run.create(config!);
  const kind = state?.policy?.kind;
  const parts =
    kind?.case === "staged" || kind?.case === "replay"
      ? kind.value.stages
      : kind?.case === "competence"
        ? kind.value.tiers
        : kind?.case === "forgetting"
          ? kind.value.domains
          : [];
  return { run, config, weights: parts.map(({ weights }) => weights) };
}

test("stages, also of cycles, tiers and domains have the weights of the arms that their patterns match", async () => {
  const easy = { "np/tsp/easy": 2, "a/easy": 5 };
  const medium = { "np/tsp/medium": 1 };
  const weights = [`{ "np/*/easy": 2, a/easy: 5 }`, `{ "*/*/medium": 1 }`] as const;
  const stages = `stages: [{ share: 0.5, weights: ${weights[0]} }, { weights: ${weights[1]} }]`;
  expect((await stagesOf(`{ staged: { ${stages} } }`)).weights).toEqual([easy, medium]);
  expect((await stagesOf(`{ replay: { cycles: 2, ${stages} } }`)).weights).toEqual([easy, medium]);
  const tiers = `tiers: [{ weights: ${weights[0]} }, { weights: ${weights[1]} }]`;
  expect((await stagesOf(`{ competence: { ${tiers} } }`)).weights).toEqual([easy, medium]);
  const domains = `domains: [{ name: x, weights: ${weights[0]} }, { name: y, weights: ${weights[1]} }]`;
  expect((await stagesOf(`{ forgetting: { ${domains} } }`)).weights).toEqual([easy, medium]);
});

test("an arm that is named has its own weight, and * is no /", async () => {
  const { weights } = await stagesOf(`{ staged: { stages: [{ weights: { "*/easy": 1, a/easy: 3, "*": 4 } }] } }`);
  expect(weights).toEqual([{ "a/easy": 3, easy: 4 }]);
});

test("the run is the same when it is created again, and a new policy takes patterns too", async () => {
  const { run, config } = await stagesOf(`{ staged: { stages: [{ weights: { "np/*/*": 1 } }] } }`);
  expect((await run.create(config!)).state?.cursor).toBe(0n);
  const { config: other } = await server.client.checkRun({
    file: file(`{ staged: { stages: [{ weights: { "np/*/h*": 1 } }] } }`),
  });
  await run.updatePolicy(other!.policy!);
  const kind = (await run.get()).state?.policy?.kind;
  expect(kind?.case === "staged" && kind.value.stages[0]?.weights).toEqual({ "np/tsp/hard": 1 });
});

test.each([
  [`{ "np/*/eazy": 1 }`, 'weights["np/*/eazy"]', /matches no arm; did you mean 'np\/tsp\/easy'/],
  [`{ "*/easy": 1, "a/*": 1 }`, 'weights["a/*"]', /arm 'a\/easy' also matches '\*\/easy': give this arm a weight/],
])("%s is refused", async (weights, field, message) => {
  const { problems } = await server.client.checkRun({
    file: file(`{ staged: { stages: [{ weights: ${weights} }] } }`),
  });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatchObject({ field: `policy.staged.stages[0].${field}`, line: 5 });
  expect(problems[0]?.message).toMatch(message);
});
