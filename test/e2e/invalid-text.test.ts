/** Tests a batch's errors for completions that are no valid Unicode, on both ports and in every form. */
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient, type GradusClient, type Task } from "../../clients/ts/src/index.ts";
import { callRaw, connectRaw, frame } from "../server/transport/grpc/raw.ts";
import { type ServerProcess, startServer, temporaryFolder } from "../support/server-process.ts";

const folder = temporaryFolder();
let server: ServerProcess;
let client: GradusClient;
let task: Task;
beforeAll(async () => {
  server = await startServer(folder.path, "--store", "memory");
  client = createClient(server.address, { retry: false });
  task = await client.reset({ environment: "countdown", level: "T0", seed: 1n });
});
afterAll(async () => {
  client.close();
  await server.kill("SIGTERM");
  folder[Symbol.dispose]();
});

/** A BatchStepRequest of two groups; the second completion of the second one has these bytes. */
function batch(text: Uint8Array): Uint8Array {
  const group = (texts: readonly Uint8Array[]): Uint8Array => {
    const writer = new BinaryWriter().tag(1, WireType.LengthDelimited).string(task.taskId);
    writer.tag(2, WireType.LengthDelimited).string(task.groupId);
    texts.forEach((each, i) => {
      const completion = new BinaryWriter().tag(1, WireType.Varint).uint32(i).tag(2, WireType.LengthDelimited);
      writer.tag(3, WireType.LengthDelimited).bytes(completion.bytes(each).finish());
    });
    return writer.finish();
  };
  const plain = Buffer.from("<answer>1</answer>");
  const writer = new BinaryWriter();
  for (const texts of [[plain], [plain, text]]) writer.tag(1, WireType.LengthDelimited).bytes(group(texts));
  return writer.finish();
}

const broken = [
  ["a stray byte", Buffer.from([0xff])],
  ["half a surrogate pair", Buffer.from([0xed, 0xa0, 0x80])],
  ["a cut character", Buffer.from([0x61, 0xf0, 0x9f, 0x92])],
  ["a long text", Buffer.concat([Buffer.alloc(2_000_000, "x"), Buffer.from([0xff])])],
] as const;
const words = "groups[1].completions[1].text: its bytes are not valid UTF-8";

test.each(broken)(
  "bytes that are no UTF-8 are refused by the name of their completion, over gRPC: %s",
  async (_, text) => {
    const session = await connectRaw(Number(server.address.split(":")[1]));
    const { stream, ended } = callRaw(session, "BatchStep");
    stream.resume().end(frame(batch(text)));
    const { "grpc-status": status, "grpc-message": message } = await ended;
    session.destroy();
    expect([String(status), decodeURI(String(message))]).toEqual(["3", expect.stringContaining(words)]);
  },
);

test.each(broken)("and over HTTP: %s", async (_, text) => {
  const reply = await fetch(`${server.httpAddress}/gradus.v1.EnvironmentService/BatchStep`, {
    method: "POST",
    headers: { "content-type": "application/proto" },
    body: batch(text) as Uint8Array<ArrayBuffer>,
  });
  const message = expect.stringContaining(words) as string;
  expect([reply.status, await reply.json()]).toEqual([
    400,
    expect.objectContaining({ code: "invalid_argument", message }),
  ]);
});

test.each(["\\ud800 <answer>1</answer>", "<answer>\\udc00</answer>", "\\udc00\\ud800"])(
  "half a surrogate pair in JSON is refused by the name of its completion: %s",
  async (text) => {
    const send = async (texts: readonly string[]) => {
      const completions = texts.map((each, i) => `{"sampleIndex":${i},"text":"${each}"}`);
      const { taskId, groupId } = task;
      const body = `{"groups":[{"taskId":"${taskId}","groupId":"${groupId}","completions":[${completions.join()}]}]}`;
      const reply = await fetch(`${server.httpAddress}/gradus.v1.EnvironmentService/BatchStep`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
      });
      return [reply.status, await reply.json()];
    };
    const message = expect.stringContaining(
      "groups[0].completions[1].text: it contains half of a surrogate pair",
    ) as string;
    expect(await send(["1", text, "2"])).toEqual([400, expect.objectContaining({ code: "invalid_argument", message })]);
    expect((await send(["1", "\\ud83d\\udca1", "2"]))[0]).toBe(200);
  },
);
