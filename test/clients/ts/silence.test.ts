/** A connection that died without a word, and tokens as files have them, against the real server. */
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient } from "../../../clients/ts/src/index.ts";
import { createClient as createWebClient } from "../../../clients/ts/src/web.ts";
import { openServer, type TestServer } from "../../support/in-process.ts";

const token = "let-me-in-if-you-please";
let gradus: TestServer;
/** A proxy whose connections can fall silent: they stay open, and nothing goes through them any more. */
let proxy: Server;
let address: string;
let sockets: Socket[] = [];
let made = 0;

const fallSilent = (): void => {
  for (const each of sockets) each.unpipe().pause();
};

beforeAll(async () => {
  gradus = await openServer({ token });
  const port = Number(gradus.address.split(":").at(-1));
  proxy = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    made += 1;
    for (const each of [near, far]) each.on("error", () => undefined);
    near.pipe(far).pipe(near);
    sockets.push(near, far);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const bound = proxy.address();
  address = `localhost:${bound !== null && typeof bound === "object" ? bound.port : 0}`;
});

afterAll(async () => {
  for (const each of sockets) each.destroy();
  sockets = [];
  proxy.close();
  await gradus[Symbol.asyncDispose]();
});

test("the call after one that heard nothing has a connection of its own", async () => {
  made = 0;
  const client = createClient(address, { token });
  const task = await client.reset({ environment: "countdown", seed: 1 });
  fallSilent();
  await expect(client.listEnvironments({}, { deadlineMs: 1_000 })).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" });
  expect(await client.listEnvironments({}, { deadlineMs: 20_000 })).not.toHaveLength(0);
  const group = { task, completions: ["a"] };
  const kinds: string[] = [];
  for await (const { kind } of client.streamSteps([group, group, group], { deadlineMs: 2_000, window: 1 })) {
    if (kinds.length === 0) fallSilent();
    kinds.push(kind);
  }
  expect(kinds).toEqual(["scored", "failed", "scored"]);
  expect(made).toBe(3);
  client.close();
});

describe("a token", () => {
  test.each([`${token}\n`, ` ${token}\r\n`])("may come as a file has it", async (given) => {
    const client = createClient(gradus.address, { token: given });
    expect(await client.listEnvironments()).not.toHaveLength(0);
    client.close();
    expect(await createWebClient(gradus.http, { token: given }).listEnvironments()).not.toHaveLength(0);
  });

  test.each([
    ["se cret", "character 3 of 7 is U+0020"],
    ["sec\nret", "character 4 of 7 is U+000A"],
    ["secrét", "character 5 of 6 is U+00E9"],
    ["\n", "it is empty"],
  ])("that no header takes is refused and not shown: %j", (given, words) => {
    for (const make of [
      () => createClient("localhost:1", { token: given }),
      () => createWebClient("http://localhost:1", { token: given }),
    ]) {
      expect(make).toThrow(`token: `);
      expect(make).toThrow(words);
      expect(make).not.toThrow(/secr|sec\n|se c/);
    }
  });
});
