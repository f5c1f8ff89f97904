/**
 * Serves POST /reset and /step on the HTTP port. A cookie of the client holds its position in the episode. So the
 * server stores nothing, and any server that shares the keys can play the next step.
 */
import type { JsonObject } from "@bufbuild/protobuf";
import { RpcError } from "../../../base/rpc.ts";
import { methodAt, type TransportContext } from "../../call-context.ts";
import type { HttpCall } from "../../http/call.ts";
import { LONG_JSON_BYTES } from "../../http/long-json.ts";
import { answered } from "../call.ts";
import { advance, begin, type Handlers, type Moved, type Position, shown } from "../episode.ts";
import { type Answer, answering, EncodedJson, type Gym } from "../route.ts";
import { type GymName, type MessageKind, type MessageOf, readMessage } from "./message.ts";

/** Maximum bytes of a body. Bodies from NeMo Gym contain the ids of all tokens. */
const BODY_BYTES_MAX = 16 * 1024 ** 2;
const COOKIE = "gradus_episode";

export function gymnasium(context: TransportContext, handlers: Handlers): Gym {
  const of = <Kind extends MessageKind>(
    kind: Kind,
    work: (message: MessageOf[Kind], call: HttpCall) => Promise<EncodedJson>,
  ) => {
    const method = methodAt(context, { path: `gymnasium/${kind}`, role: "trainer", streamsRequests: false });
    const read = async (bytes: Buffer, call: HttpCall): Promise<MessageOf[Kind]> => {
      if (bytes.length <= LONG_JSON_BYTES) return readMessage(kind, bytes);
      return (await context.longJson.read({ kind: "gymnasium", of: kind, bytes }, call.party)) as MessageOf[Kind];
    };
    const route = { method, verb: "POST", bytesMax: BODY_BYTES_MAX, read } as const;
    return [`/${kind}`, answering(route, (call, message) => answered(call, () => work(message, call)))] as const;
  };
  const routes = new Map<string, Answer>([
    of("reset", async ({ gym, choice }, call) => {
      const episode = await begin(handlers, choice, call);
      const { prompt = "", ...metadata } = shown(episode);
      const body =
        gym === "nemo-gym"
          ? { observation: prompt, info: metadata }
          : { observation: { prompt }, reward: null, done: false, metadata };
      return new EncodedJson([JSON.stringify(body)], cookieOf(episode));
    }),
    of("step", async ({ gym, written }, call) => {
      const moved = await advance(handlers, positionIn(call.headers.cookie), written, call);
      const position = moved.kind === "turn" ? moved.episode : undefined;
      return new EncodedJson([JSON.stringify(replies[gym](moved))], cookieOf(position));
    }),
  ]);
  return (path) => routes.get(path);
}

/**
 * Replies to a step. Clients add the rewards up, so only the last step has the reward of the whole episode. Earlier
 * steps have 0 or null.
 */
const replies: Readonly<Record<GymName, (moved: Moved<Position>) => JsonObject>> = {
  "nemo-gym"(moved) {
    if (moved.kind === "over") {
      const { reward, outcome } = moved.stepped;
      return { observation: null, reward, terminated: true, truncated: false, info: { outcome } };
    }
    const { messages } = moved.turn;
    const texts = messages.filter(({ role }) => role !== "tool").map(({ content }) => content);
    const outputs = messages.filter(({ role }) => role === "tool");
    const tool_outputs = outputs.map(({ toolCallId, content }) => ({ call_id: toolCallId, output: content }));
    const observation = texts.length === 0 ? null : texts.join("\n\n");
    return { observation, reward: 0, terminated: false, truncated: false, info: { tool_outputs } };
  },
  openenv(moved) {
    if (moved.kind === "over")
      return { observation: { outcome: moved.stepped.outcome }, reward: moved.stepped.reward, done: true };
    const prompt = moved.turn.messages.map(({ content }) => content).join("\n\n");
    return { observation: { prompt }, reward: null, done: false };
  },
};

/** Returns the header that gives the client its position. Undefined: the episode is over. */
function cookieOf(position: Position | undefined): EncodedJson["headers"] {
  if (position === undefined) return { "set-cookie": `${COOKIE}=; Max-Age=0; Path=/; HttpOnly` };
  const { task, sampleIndex } = position;
  const value = [sampleIndex, encodeURIComponent(task.groupId), task.taskId].join("|");
  return { "set-cookie": `${COOKIE}=${value}; Path=/; HttpOnly` };
}

/** Reads the position from the cookies of a request. Throws RpcError if there is none. */
function positionIn(cookies = ""): Position {
  const [, index, group = "", taskId = ""] =
    new RegExp(`(?:^|;\\s*)${COOKIE}="?(\\d{1,9})\\|([^|;"]*)\\|([^;"]+)`).exec(cookies) ?? [];
  if (index === undefined)
    throw new RpcError(
      "FAILED_PRECONDITION",
      "no episode is open: send a reset first, and the cookie that it sets with each step",
    );
  return { task: { taskId, groupId: decoded(group) }, sampleIndex: Number(index) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // The text stays undecoded. No group has it as its id, so the step is refused later.
    return text;
  }
}
