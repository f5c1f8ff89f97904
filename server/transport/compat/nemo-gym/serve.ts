/**
 * Serves the calls of a NeMo Gym resources server on the HTTP port. The data row chooses the task
 * (read-task-choice.ts), and comes with /seed_session and with /verify, so nothing is kept between the calls.
 */
import type { JsonValue } from "@bufbuild/protobuf";
import { methodAt, type TransportContext } from "../../call-context.ts";
import { LONG_JSON_BYTES } from "../../http/long-json.ts";
import type { HttpCall } from "../../http/call.ts";
import { answered } from "../call.ts";
import { begin, type Handlers, shown, step } from "../episode.ts";
import { type Answer, answering, EncodedJson, type Gym } from "../route.ts";
import { type MessageKind, type MessageOf, readMessage } from "./message.ts";

/** Maximum bytes of a body. */
const BODY_BYTES_MAX = 16 * 1024 ** 2;

export function nemoGym(context: TransportContext, handlers: Handlers): Gym {
  const of = <Kind extends MessageKind>(
    kind: Kind,
    work: (message: MessageOf[Kind], call: HttpCall) => Promise<JsonValue | EncodedJson>,
  ) => {
    const method = methodAt(context, { path: `nemo_gym/${kind}`, role: "trainer", streamsRequests: false });
    const read = async (bytes: Buffer, call: HttpCall): Promise<MessageOf[Kind]> => {
      if (bytes.length <= LONG_JSON_BYTES) return readMessage(kind, bytes);
      return (await context.longJson.read({ kind: "nemo", of: kind, bytes }, call.party)) as MessageOf[Kind];
    };
    const route = { method, verb: "POST", bytesMax: BODY_BYTES_MAX, read } as const;
    return [`/${kind}`, answering(route, (call, message) => answered(call, () => work(message, call)))] as const;
  };
  const modeMethod = methodAt(context, { path: "nemo_gym/reverify_mode", role: "trainer", streamsRequests: false });
  const routes = new Map<string, Answer>([
    of("seed_session", async ({ choice, sessionId }, call) => {
      const episode = await begin(handlers, choice, call);
      if (sessionId === undefined) return shown(episode);
      // NeMo Gym's environment server counts a reply to /seed_session without a cookie as a failure.
      const headers = { "set-cookie": `gradus_session=${encodeURIComponent(sessionId)}; Path=/; HttpOnly` };
      return new EncodedJson([JSON.stringify({ resources_session_id: sessionId })], headers);
    }),
    of("verify", async ({ choice, written, echo }, call) => {
      const added = JSON.stringify(await step(handlers, await begin(handlers, choice, call), written, call)).slice(1);
      return new EncodedJson([echo, echo.length > 1 ? "," : "", added]);
    }),
    of("close_session", async ({ sessionId }) => ({ resources_session_id: sessionId })),
    of("aggregate_metrics", async ({ metrics }) => new EncodedJson([metrics])),
    [
      "/reverify_mode",
      answering({ method: modeMethod, verb: "GET", bytesMax: 0 }, (call) => answered(call, async () => "stateless")),
    ] as const,
  ]);
  return (path) => routes.get(path);
}
