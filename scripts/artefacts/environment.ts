/**
 * `gradus/environment` of the package: what a module of environments of one's own is written with, which
 * `gradus serve --environment-file` loads. In a checkout the same is under envs/.
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
