/** A server without a sandbox refuses tasks that need one, with what to do, before any program is written for them. */
import { expect, test } from "vitest";
import { openServer } from "../support/in-process.ts";

test.each([
  ["it is off", { sandbox: "off" }, "--sandbox is off"],
  [
    "there is no Python",
    { sandbox: "embedded", python: "/no/python" },
    "install Python 3.10 or newer, or say where it is with --python",
  ],
])("where %s", async (_name, flags, why) => {
  await using server = await openServer(flags);
  const { client } = server;
  const refused = { code: "FAILED_PRECONDITION", message: expect.stringContaining(why) as string };
  await expect(client.reset({ environment: "code", source: "real", seed: 1n })).rejects.toMatchObject(refused);
  const arms = [{ id: "code", environment: "code", source: "real" }] as const;
  const choice = { arms, policy: { kind: "mixture" }, numGenerations: 2, promptsPerUpdate: 4 } as const;
  await expect(client.run("r").create(choice)).rejects.toMatchObject(refused);
  // Calls that need no sandbox still succeed.
  expect(await client.reset({ environment: "countdown", seed: 1n })).toMatchObject({ environment: "countdown" });
  const metrics = await (await fetch(`${server.http}/metrics`)).text();
  expect(metrics).not.toContain("gradus_sandbox");
});

test("a server with a sandbox counts what programs come to", async () => {
  await using server = await openServer({ sandbox: "embedded" });
  const task = await server.client
    .reset({ environment: "code", source: "real", seed: 1n })
    .catch((error: unknown) => error);
  // On a kernel that gives no sandbox, the server's error says so.
  if (task instanceof Error) return expect(task.message).toMatch(/this server runs no programs/);
  await server.client.step(task as never, "<think></think><answer>def nothing(): pass</answer>");
  const metrics = await (await fetch(`${server.http}/metrics`)).text();
  expect(metrics).toMatch(/^gradus_sandbox_jobs_total\{outcome="ran"\} 1$/m);
});
