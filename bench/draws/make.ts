/** Makes tasks of a level as our workers do, without a server. */
import { makeGenerated } from "../../envs/instances.ts";
import type { ChatMessage } from "../../envs/prompt.ts";
import { createRegistry, environments } from "../../envs/registry.ts";

export interface Made {
  readonly hash: string;
  readonly prompt: readonly ChatMessage[];
}

export function makerOf(id: string, level: string): (seed: bigint) => Made {
  const found = createRegistry(environments).find(id);
  if (found.kind !== "found") throw new Error(found.message);
  const { environment } = found;
  const parameters = environment.levels.find(({ name }) => name === level)?.parameters;
  const [format] = environment.answerFormats;
  if (parameters === undefined || format === undefined) throw new Error(`${id} has no level ${level}`);
  return (seed) => {
    const result = makeGenerated(environment, { parameters, seed, split: "train" });
    if (result.kind !== "made") throw new Error(`seed ${seed} of ${id} ${level} has no task`);
    return { hash: result.key.hash, prompt: environment.render(result.instance, format) };
  };
}
