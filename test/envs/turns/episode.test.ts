/** Laws of episodes: how calls are split over messages does not matter, and an episode is all that a turn needs. */
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { play, type Played } from "../../../envs/turns/episode.ts";
import type { PolicyMessage } from "../../../envs/turns/read-action.ts";
import { type Episode, episodeBytesMax, type Reply } from "../../../envs/turns/turns.ts";
import { EpisodeSchema } from "../../../proto/gen/gradus/internal/v1/task_key_pb.js";
import { episodeFromWire, episodeToWire } from "../../../server/tasks/encode-episode.ts";
import { counterOf, taskOf } from "./counter.ts";

const QUIET: PolicyMessage = { text: "", toolCalls: [], isHermes: false, isCut: false, ends: false };
const callOf = (name: string, argumentsJson: string, id = "c") => ({ id, name, argumentsJson });
const add = (by: number | string) => callOf("add", JSON.stringify({ by }));

const anyCall = fc.oneof(
  fc.integer({ min: 0, max: 60 }).map(add),
  fc.constant(callOf("jump", "{}")),
  fc.constantFrom(callOf("add", "{"), callOf("add", "[1]"), callOf("secret", "{}"), callOf("sub", "{}"), add("x")),
  fc.constant(callOf("add", `{"by": "${"9".repeat(100)}"}`)),
);

/** Plays messages one after another. Each episode goes through its encoding, as in a task id. */
function playAll(
  task: Parameters<typeof play>[0],
  messages: readonly Partial<PolicyMessage>[],
  tells = (_: number): void => undefined,
) {
  let episode: Episode | undefined;
  let last: Played | undefined;
  const replies: Reply[] = [];
  const rewards: number[] = [];
  for (const message of messages) {
    last = play(task, episode, { ...QUIET, ...message });
    if (last.kind === "over") break;
    const bytes = toBinary(EpisodeSchema, episodeToWire({ ...last.episode, sample: {} }));
    tells(bytes.length);
    episode = episodeFromWire(fromBinary(EpisodeSchema, bytes));
    replies.push(...last.messages);
    if (last.reward !== undefined) rewards.push(last.reward);
  }
  return { last, replies, rewards, episode };
}

describe.each(["last", "best", "sum"])("the return '%s'", (scheme) => {
  test.each([1, 40, 400])("does not depend on how calls are split over messages, with states of %d bytes", (bytes) => {
    const parts = fc.array(fc.array(anyCall, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(parts, (messages) => {
        const task = taskOf(counterOf(bytes).environment, {}, scheme);
        const together = playAll(
          task,
          messages.map((toolCalls) => ({ toolCalls })),
        );
        const apart = playAll(
          task,
          messages.flat().map((call) => ({ toolCalls: [call] })),
        );
        // The replies of a message that ends the episode are not sent.
        if (together.last?.kind === "turn") expect(together.replies).toEqual(apart.replies);
        if (together.last?.kind === "turn") expect(together.episode).toEqual(apart.episode);
        else expect(together.last).toEqual(apart.last);
      }),
      { numRuns: 200 },
    );
  });
});

test("an id never exceeds the bound by which settings are refused, and keeps the shorter of state and log", () => {
  for (const bytes of [1, 60, 5000]) {
    const { environment } = counterOf(bytes);
    const calls = 20;
    const bound = episodeBytesMax(environment.turns!, {}, calls);
    const longest = (seen: number) => expect(seen).toBeLessThanOrEqual(bound);
    const text = JSON.stringify({ by: 0, pad: "x".repeat(40) });
    const { episode } = playAll(
      taskOf(environment, { calls: calls + 1 }),
      Array.from({ length: calls }, () => ({ toolCalls: [callOf("add", text)] })),
      longest,
    );
    // Each call has 73 bytes: a state of 60 bytes is shorter than one, and one of 5,000 bytes longer than all.
    expect(episode?.log.length).toBe(bytes === 5000 ? calls : 0);
    expect(bound).toBeLessThan(bytes + 200);
  }
});

test("a log is replayed with the chances that its calls had", () => {
  const { environment } = counterOf(400);
  const jump = { toolCalls: [callOf("jump", "{}")] };
  const messages = [jump, { toolCalls: [callOf("nothing", "")] }, jump, jump];
  const { replies, episode } = playAll(taskOf(environment), messages);
  expect(episode).toMatchObject({ calls: 4, state: undefined, log: [{ number: 0 }, { number: 2 }, { number: 3 }] });
  // A state of one byte is stored after each call, so nothing is replayed.
  expect(playAll(taskOf(counterOf(1).environment), messages).replies).toEqual(replies);
  const other = taskOf(environment, { seed: ["hash", "sample", 4] });
  expect(playAll(other, messages).replies).not.toEqual(replies);
});

describe("an episode ends", () => {
  const { environment, made } = counterOf(1);
  const task = taskOf(environment);
  const over = (messages: readonly Partial<PolicyMessage>[], of = task) => {
    const { last } = playAll(of, messages);
    if (last?.kind !== "over") throw new Error("the episode goes on");
    return last;
  };

  test("at its goal, and later calls of the message are ignored", () => {
    made.length = 0;
    const end = over([{ toolCalls: [add(60), add(40), ...Array.from({ length: 16_000 }, () => add(1))] }]);
    expect(made).toEqual([0, 1]);
    expect(end.score).toMatchObject({
      reward: 0.9,
      solved: true,
      verdict: "feasible",
      episode: { stop: "goal", calls: 2 },
    });
    expect(over([{ toolCalls: [add(60), add(40)] }]).digest).toBe(end.digest);
  });

  test("when its calls are used up, whatever they were", () => {
    const bad = [callOf("add", "{"), callOf("sub", "{}"), add("x"), callOf("secret", '{"by": 1}')];
    const end = over([{ toolCalls: [...bad, ...bad, ...bad, add(100)] }]);
    expect(end.score).toMatchObject({
      reward: 0,
      solved: false,
      verdict: "malformed",
      episode: { stop: "budget", calls: 12 },
    });
  });

  test("when a completion is cut, of which no call is made", () => {
    made.length = 0;
    const end = over([{ toolCalls: [add(1)] }, { toolCalls: [add(99)], isCut: true }]);
    expect(made).toEqual([0]);
    expect(end.score).toMatchObject({
      reward: 0,
      solved: false,
      truncated: true,
      episode: { stop: "truncated", calls: 1 },
    });
    expect(over([{ text: "Answer: 100", isCut: true }]).score).toMatchObject({
      episode: { stop: "truncated", calls: 0 },
    });
  });

  test("when the trainer ends it, after the calls of the completion", () => {
    expect(over([{ ends: true }]).score).toMatchObject({ episode: { stop: "ended", calls: 0 } });
    expect(over([{ toolCalls: [add(1)], ends: true }]).score).toMatchObject({ episode: { stop: "ended", calls: 1 } });
    expect(over([{ text: "Answer: 100", ends: true }]).score).toMatchObject({
      solved: true,
      episode: { stop: "goal" },
    });
  });

  test("with another digest if it had other calls, or ended otherwise", () => {
    const ends = [
      over([{ ends: true }]),
      over([{ isCut: true }]),
      over([{ toolCalls: [add(1)], ends: true }]),
      over([{ toolCalls: [callOf("add", "{")], ends: true }]),
      over([{ toolCalls: [callOf("add", "[")], ends: true }]),
    ];
    expect(new Set(ends.map(({ digest }) => digest)).size).toBe(ends.length);
  });
});

test("the text beside calls does not tell ends apart, and that of a cut completion does", () => {
  const task = taskOf(counterOf(1).environment);
  const digestOf = (messages: readonly Partial<PolicyMessage>[]) => {
    const { last } = playAll(task, messages);
    return last?.kind === "over" ? last.digest : "it goes on";
  };
  const together = digestOf([{ text: "I add.", toolCalls: [add(1), add(2)], ends: true }]);
  expect(
    digestOf([
      { text: "I add.", toolCalls: [add(1)] },
      { toolCalls: [add(2)], ends: true },
    ]),
  ).toBe(together);
  expect(digestOf([{ toolCalls: [add(1), add(2)] }, { ends: true }])).toBe(together);
  const hermes = ["1", "2"].map((by) => `<tool_call>{"name": "add", "arguments": {"by": ${by}}}</tool_call>`);
  const [first = "", second = ""] = hermes;
  const read = { isHermes: true };
  expect(digestOf([{ ...read, text: hermes.join("\n"), ends: true }])).toBe(together);
  expect(
    digestOf([
      { ...read, text: first },
      { ...read, text: second, ends: true },
    ]),
  ).toBe(together);
  expect(digestOf([{ text: "a", isCut: true }])).not.toBe(digestOf([{ text: "b", isCut: true }]));
});

test("a truncated episode is not solved, although an earlier call reached the goal", () => {
  const { environment, turns } = counterOf(1);
  const advance: typeof turns.advance = (...given) => ({ ...turns.advance(...given), over: false });
  const endless = { ...environment, turns: { ...turns, advance } };
  const { last } = playAll(taskOf(endless, {}, "best"), [{ toolCalls: [add(100)] }, { isCut: true }]);
  expect(last).toMatchObject({ kind: "over", score: { reward: 1, solved: false, truncated: true } });
});

describe("arguments", () => {
  const { environment } = counterOf(1);
  const deep = (levels: number) => `{"by": ${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
  const wide = { ...environment, turns: { ...environment.turns!, actionBytesMax: 4096 } } as typeof environment;
  const replyOf = (json: string, of = wide) => {
    const played = play(taskOf(of), undefined, { ...QUIET, toolCalls: [callOf("add", json)] });
    if (played.kind === "over") throw new Error("the episode is over");
    expect(played.episode.calls).toBe(1);
    return played.messages[0]?.content;
  };

  test.each([
    "9007199254740993",
    "-9007199254740993",
    "9007199254740992",
    "100000000000000000000000",
    "5.00000000000000001",
    "1e-400",
    "-1.5E+400",
    "9".repeat(309),
    `1${"0".repeat(300)}1`,
  ])("never hold another number than the policy wrote: %s", (number) => {
    const shown = number.length > 64 ? `${number.slice(0, 64)}…` : number;
    const words = `has a number that is too large or too precise to be read: ${shown}.`;
    expect(replyOf(`{"by": ${number}}`)).toBe(`The text of the arguments ${words}`);
    expect(replyOf(JSON.stringify(`{"by": [{"to": ${number}}]}`))).toBe(`The text of the arguments ${words}`);
  });

  test.each(["5", "5.0", "5e0", "0.5e1", "50e-1"])("may write a number as %s", (number) => {
    expect(replyOf(`{"by": ${number}}`)).toBe("The total is 5.");
  });

  test.each([
    ['{"by": 5, "by": 6}', "has the key 'by' twice"],
    ['{"by": 5, "\\u0062y": 6}', "has the key 'by' twice"],
    ['{"by": 5, "to": [{"a": 1, "a": 1}]}', "has the key 'a' twice"],
    [JSON.stringify('{"by": 5, "by": 6}'), "has the key 'by' twice"],
    ['{"by": NaN}', "is not valid JSON"],
    ['{"by": -Infinity}', "is not valid JSON"],
    ['{"by": 05}', "is not valid JSON"],
    ["9007199254740993", "has a number that is too large"],
    [JSON.stringify(JSON.stringify({ by: 5 })), "The total is 5."],
    [JSON.stringify(JSON.stringify(JSON.stringify({ by: 5 }))), "is not a JSON object"],
    [deep(65), "is nested more than 64 levels deep"],
    [JSON.stringify(deep(65)), "is nested more than 64 levels deep"],
    [deep(64), "That is no whole number."],
  ])("%s are answered in words", (json, words) => {
    expect(replyOf(json)).toContain(words);
  });

  test("keep whole numbers exactly if the environment takes them", () => {
    const seen: string[] = [];
    const { turns } = counterOf(1);
    const advance: typeof turns.advance = (instance, state, action, rng) => {
      if (action.kind === "tool") seen.push(JSON.stringify(action.arguments));
      return turns.advance(instance, state, action, rng);
    };
    const exact = { ...wide, turns: { ...turns, advance, actionBytesMax: 4096, keepsWholeNumbers: true } } as const;
    const whole = `{"by":[9007199254740993,-100000000000000000000000,${"9".repeat(308)}]}`;
    expect(replyOf(whole, exact)).toBe("That is no whole number.");
    expect(replyOf('{"by": 9007199254740993.5}', exact)).toContain("has a number that is too large or too precise");
    expect(replyOf(`{"by": ${"9".repeat(309)}}`, exact)).toContain("has a number that is too large or too precise");
    const text = `<tool_call>{"name": "add", "arguments": ${whole}}</tool_call>`;
    play(taskOf(exact, { thinking: "stripped" }), undefined, { ...QUIET, isHermes: true, text });
    expect(seen).toEqual([whole, whole]);
  });

  test("with long runs of digits hold up nobody", () => {
    const number = `1${"0".repeat(500_000)}1`;
    const began = performance.now();
    const text = `<tool_call>{"name": "add", "arguments": {"by": ${number}}}</tool_call>`;
    const played = play(taskOf(wide), undefined, { ...QUIET, isHermes: true, text });
    expect(played.kind === "turn" && played.messages[0]?.content).toContain("has a number that is too large");
    expect(performance.now() - began).toBeLessThan(1000);
  });
});

describe("calls in the form of Hermes", () => {
  const { environment } = counterOf(1);
  const say = (text: string, over: Partial<PolicyMessage> = {}) => {
    const played = play(taskOf(environment, { thinking: "required" }), undefined, {
      ...QUIET,
      isHermes: true,
      ...over,
      text,
    });
    if (played.kind === "over") throw new Error("the episode is over");
    return played.messages;
  };
  const hermes = (json: string) => `<tool_call>${json}</tool_call>`;

  test("are made in order, with ids of nine letters and digits", () => {
    const said = say(
      `I add.\n${hermes('{"name": "add", "arguments": {"by": 5}}')}\n${hermes('{"name": "add", "arguments": "{\\"by\\": 6}"}')}`,
    );
    expect(said).toEqual([
      { role: "tool", content: "The total is 5.", toolCallId: "call00000", name: "add", reward: 0 },
      { role: "tool", content: "The total is 11.", toolCallId: "call00001", name: "add", reward: 0 },
    ]);
  });

  test.each([
    ['{"name": "add", "arguments": {"by": 1e400}}', "has a number that is too large"],
    ['{"name": "add", "arguments": "{\\"by\\": 1e400}"}', "has a number that is too large"],
    ['{"name": "add", "arguments": "{\\"by\\": 1\\u0045400}"}', "has a number that is too large"],
    ['{"name": "add", "arguments": {"by": -1.5E+400}}', "has a number that is too large"],
    [`{"name": "add", "arguments": {"by": ${"9".repeat(309)}}}`, "has a number that is too large"],
    [`{"name": "add", "arguments": {"by": "${" ".repeat(309)}", "to": [1e400]}}`, "has a number that is too large"],
    ['{"name": "add", "arguments": {"by": Infinity}}', "is not valid JSON"],
    ['{"name": 3}', 'no "name"'],
    ["nothing", "is not valid JSON"],
    ['{"name": "add", "name": "jump"}', "has the key 'name' twice"],
    ['{"name": "add", "arguments": {"by": 1, "by": 2}}', "has the key 'by' twice"],
    ['{"name": "add", "arguments": {"by": 9007199254740993}}', "too precise to be read: 9007199254740993."],
    ['["add"]', "is not a JSON object"],
    ['{"name": "add", "arguments": [1]}', "is not a JSON object"],
    ['{"name": "<|im_start|>", "arguments": {}}', "There is no tool '<|im_start|>': the tools are: add, jump."],
    [`{"name": "add", "arguments": {"by": "${"1".repeat(1_000_000)}"}}`, "is longer than 64 bytes"],
  ])("%s is answered in words, and counts", (json, words) => {
    const [reply, ...others] = say(hermes(json));
    expect(others).toEqual([]);
    expect(reply?.role).toBe("tool");
    expect(reply?.content).toContain(words);
  });

  test("are answered in words, however deep they are", () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const [reply] = say(hermes(`{"name": "add", "arguments": ${deep}}`));
    expect(reply?.content).toContain("is nested more than 64 levels deep");
  });

  test("do not count within the thoughts, nor unless the trainer asks for them", () => {
    const call = hermes('{"name": "add", "arguments": {"by": 5}}');
    expect(say(`<think>${call}</think>\nAnswer: 7`)[0]?.content).toBe("The total is 7.");
    expect(say(`${call}\nAnswer: 7`, { isHermes: false })[0]).toMatchObject({
      role: "user",
      content: "The total is 7.",
    });
    expect(say(`<think>${call}`)[0]?.content).toContain("has no answer");
  });

  test("may be open at the end, which is answered too", () => {
    expect(say('<tool_call>{"name": "add"')[0]?.content).toContain("has no </tool_call>");
  });
});

test("bytes of any kind are answered, never thrown", () => {
  const { environment } = counterOf(1);
  const message = fc.record({
    text: fc.oneof(
      fc.string(),
      fc.string().map((inner) => `<tool_call>${inner}</tool_call>`),
      fc.json().map((json) => `<tool_call>{"name": "add", "arguments": ${json}}</tool_call>`),
    ),
    toolCalls: fc.array(
      fc.record({
        id: fc.string(),
        name: fc.constantFrom("add", "jump", "__proto__", "x"),
        argumentsJson: fc.oneof(fc.string(), fc.json()),
      }),
      { maxLength: 3 },
    ),
    isHermes: fc.boolean(),
    isCut: fc.boolean(),
    ends: fc.boolean(),
  });
  fc.assert(
    fc.property(message, (each) => void play(taskOf(environment), undefined, each)),
    { numRuns: 500 },
  );
});
