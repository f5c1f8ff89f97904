/** Gradus's own environments, as a server without others has them. */
import { createRegistry, environments } from "../../envs/registry.ts";

export const registry = createRegistry(environments);
