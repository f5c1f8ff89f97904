/**
 * Exports of `gradus/environment`, with which a user writes a module of environments for `gradus serve
 * --environment-file`. In a checkout, the same exports are under envs/.
 */
export * from "../../envs/define.ts";
export * from "../../envs/parameters.ts";
export * from "../../envs/answers/wording.ts";
export * from "../../envs/lib/encode-bits.ts";
export * from "../../envs/lib/parse-lists.ts";
export * from "../../envs/lib/task-prompt.ts";
export { keyOf, type Rng, rngFor, sample } from "../../envs/lib/rng.ts";
export { unavailable } from "../../envs/facts.ts";
export type * from "../../envs/environment.ts";
export type * from "../../envs/facts.ts";
export type * from "../../envs/prompt.ts";
