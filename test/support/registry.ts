/** Gradus's own environments, as a server has them that adds none. */
import { createRegistry, environments } from "../../envs/registry.ts";

export const registry = createRegistry(environments);
