/** Plays mastermind in tests: writes guesses, and leaves only the codes that fit the replies. */
import type { Code } from "../../envs/games/mastermind/code.ts";
import { marksOf } from "../../envs/games/mastermind/code.ts";
import { allCodes } from "../../envs/games/mastermind/solve.ts";

/** Specification of the easiest tasks, which are played by a tool. */
export const MASTERMIND = {
  environment: "games/mastermind",
  difficulty: { case: "level", value: "easy" } as const,
  tools: ["guess"],
};

/** Codes of the easiest tasks: three places, and four colours. */
export const EASY_CODES: readonly Code[] = allCodes(3, 4);

export const guess = (code: Code, id = "call_a") => ({ id, name: "guess", argumentsJson: JSON.stringify({ code }) });

export const say = (code: Code): string => `<think></think><answer>[${code.join(", ")}]</answer>`;

/** Returns the codes that would give the same reply to a guess. */
export function fitting(codes: readonly Code[], code: Code, reply = ""): readonly Code[] {
  const [inPlace, elsewhere] = [...reply.matchAll(/(\d) (?:of|more)/g)].map(([, n]) => Number(n));
  return codes.filter((each) => {
    const marks = marksOf(each, code);
    return marks.inPlace === inPlace && marks.elsewhere === elsewhere;
  });
}
