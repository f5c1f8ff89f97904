/** Tests of health and reflection, asked by third-party clients. */
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { credentials, loadPackageDefinition, Metadata } from "@grpc/grpc-js";
import type { ClientDuplexStream, ServiceClientConstructor } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Duplex } from "node:stream";
import { afterEach, describe, expect, test } from "vitest";
import { EnvironmentService } from "../../../../proto/gen/gradus/v1/environment_pb.js";
import { readInTurns } from "../../../../server/transport/grpc/health-and-reflection.ts";
import { createTurns } from "../../../../server/transport/connection-turns.ts";
import { start, stopAll } from "../fixture.ts";
import { echo, latch } from "../handlers.ts";
import { checkHealth, withHealth } from "./health-client.ts";

afterEach(stopAll);

describe("health", () => {
  test("the server and each service are SERVING; other names are NOT_FOUND", async () => {
    const { grpcPort } = await start({});
    expect(await checkHealth(grpcPort)).toBe("SERVING");
    expect(await checkHealth(grpcPort, "gradus.v1.EnvironmentService")).toBe("SERVING");
    await expect(checkHealth(grpcPort, "gradus.v1.NoService")).rejects.toMatchObject({ code: 5 });
  });

  test("while draining they are NOT_SERVING, and whoever watches is told and let go", async () => {
    const hold = latch();
    const begun = latch();
    const server = await start({
      step: async (request) => {
        begun.open();
        await hold.opened;
        return echo(request);
      },
    });
    await withHealth(server.grpcPort, async (client) => {
      const statuses: string[] = [];
      const watching = client.watch({ service: "" });
      const first = latch();
      watching.on("data", ({ status }: { readonly status: string }) => {
        statuses.push(status);
        first.open();
      });
      const ended = new Promise((resolve) => watching.on("end", resolve));
      await first.opened;
      const call = server.grpc().step({});
      await begun.opened;
      const drained = server.drain();
      expect(await checkHealth(server.grpcPort)).toBe("NOT_SERVING");
      hold.open();
      await Promise.all([call, drained, ended]);
      expect(statuses).toEqual(["SERVING", "NOT_SERVING"]);
    });
  });
});

type Answer = Readonly<Record<string, unknown>> & {
  readonly listServicesResponse?: { readonly service: readonly { readonly name: string }[] };
  readonly fileDescriptorResponse?: { readonly fileDescriptorProto: readonly Buffer[] };
  readonly errorResponse?: { readonly errorCode: number };
};

/** Asks one question of a version of the reflection service. */
async function reflect(port: number, version: "v1" | "v1alpha", question: object, token?: string): Promise<Answer> {
  const library = dirname(createRequire(import.meta.url).resolve("@grpc/reflection/package.json"));
  const definition = loadSync(join(library, `build/proto/grpc/reflection/${version}/reflection.proto`), {
    defaults: false,
  });
  const loaded = loadPackageDefinition(definition) as unknown as {
    grpc: { reflection: Record<string, { ServerReflection: ServiceClientConstructor }> };
  };
  const Client = loaded.grpc.reflection[version]?.ServerReflection;
  if (Client === undefined) throw new Error(`no reflection ${version}`);
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  const metadata = new Metadata();
  if (token !== undefined) metadata.set("authorization", `Bearer ${token}`);
  const method = client["serverReflectionInfo"] as (of: Metadata) => ClientDuplexStream<object, Answer>;
  const stream = method.call(client, metadata);
  try {
    return await new Promise((resolve, reject) => {
      stream.on("data", resolve);
      stream.on("error", reject);
      stream.write(question);
    });
  } finally {
    stream.end();
    client.close();
  }
}

describe.each(["v1", "v1alpha"] as const)("reflection %s", (version) => {
  test("lists our services and health", async () => {
    const { grpcPort } = await start({});
    const { listServicesResponse } = await reflect(grpcPort, version, { listServices: "*" });
    expect(listServicesResponse?.service.map(({ name }) => name)).toEqual([
      "gradus.v1.EnvironmentService",
      "grpc.health.v1.Health",
    ]);
  });

  test("gives the files of a symbol, from which the whole service can be built again", async () => {
    const { grpcPort } = await start({});
    const question = { fileContainingSymbol: "gradus.v1.EnvironmentService" };
    const files = (await reflect(grpcPort, version, question)).fileDescriptorResponse?.fileDescriptorProto ?? [];
    const file = files.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
    const registry = createFileRegistry({ $typeName: FileDescriptorSetSchema.typeName, file: file.reverse() });
    const service = registry.getService("gradus.v1.EnvironmentService");
    expect(service?.methods.map(({ name, methodKind }) => [name, methodKind])).toEqual(
      EnvironmentService.methods.map(({ name, methodKind }) => [name, methodKind]),
    );
    const fields = service?.method["step"]?.input.fields.map(({ name, number }) => [name, number]);
    expect(fields).toEqual(EnvironmentService.method.step.input.fields.map(({ name, number }) => [name, number]));
  });

  test("describes health, which our own contract does not", async () => {
    const { grpcPort } = await start({});
    const question = { fileContainingSymbol: "grpc.health.v1.Health" };
    const files = (await reflect(grpcPort, version, question)).fileDescriptorResponse?.fileDescriptorProto ?? [];
    const services = files.flatMap((bytes) => fromBinary(FileDescriptorProtoSchema, bytes).service);
    expect(services.flatMap(({ method }) => method.map(({ name }) => name))).toEqual(["Check", "Watch", "List"]);
  });

  test("wants the token where there is one", async () => {
    const token = "correct-horse-battery-staple";
    const { grpcPort } = await start({}, { token });
    await expect(reflect(grpcPort, version, { listServices: "*" })).rejects.toMatchObject({ code: 16 });
    expect((await reflect(grpcPort, version, { listServices: "*" }, token)).listServicesResponse).toBeDefined();
  });
});

test("of a client that asks reflection and reads no answers so many requests are read as answers may wait", async () => {
  let read = 0;
  /** Sends a thousand requests; the answers wait until the test lets them go. */
  const taken: (() => void)[] = [];
  const stream = new Duplex({
    objectMode: true,
    read: () => undefined,
    write: (_answer, _encoding, done) => void taken.push(done),
  });
  for (let i = 0; i < 1000; i++) stream.push({ i });
  readInTurns(stream, createTurns()({}));
  stream.on("data", (request) => {
    read++;
    stream.write(request);
  });
  const rounds = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
  };
  await rounds(100);
  // The server reads one request more than may wait, before that request's answer exists.
  expect(read).toBe(stream.writableHighWaterMark + 1);
  while (read < 1000) {
    taken.shift()?.();
    await rounds(1);
  }
});
