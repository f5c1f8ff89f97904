/** Describes the server to OpenEnv's clients: the schemas of messages, and the paths of its HTTP API. */
import type { JsonObject } from "@bufbuild/protobuf";

const text = (description: string): JsonObject => ({ type: "string", description });

/**
 * Schemas of an action, an observation and a state. The action has one field, because some clients put a policy's text
 * into the only field that an action has.
 */
export const SCHEMA: JsonObject = {
  action: {
    title: "Completion",
    type: "object",
    properties: { completion: text("The completion, with its answer marked as the prompt asks.") },
    required: ["completion"],
  },
  observation: {
    title: "Shown",
    type: "object",
    properties: {
      prompt: text("Text for the policy: the task, or the reply to its last completion."),
      reward: { type: ["number", "null"], description: "Reward of the episode. Null: the episode goes on." },
      done: { type: "boolean", description: "Whether the episode is over." },
    },
  },
  state: {
    title: "State",
    type: "object",
    properties: { episode_id: { type: ["string", "null"] }, step_count: { type: "integer" } },
  },
};

const PATHS = {
  "/health": "get",
  "/metadata": "get",
  "/schema": "get",
  "/mcp": "post",
  "/list_environments": "get",
  "/{environment}/splits": "get",
  "/{environment}/tasks": "post",
  "/{environment}/num_tasks": "post",
  "/{environment}/task": "post",
  "/{environment}/task_range": "post",
} as const;

const ENVIRONMENT: JsonObject = { name: "environment", in: "path", required: true, schema: { type: "string" } };

/** OpenAPI document. Its version is that of OpenEnv's HTTP API. Episodes are played over the WebSocket at /ws. */
export const OPENAPI: JsonObject = {
  openapi: "3.1.0",
  info: { title: "Gradus, as an OpenEnv server", version: "1.0.0" },
  paths: Object.fromEntries(
    Object.entries(PATHS).map(([path, verb]) => {
      const parameters = path.includes("{") ? [ENVIRONMENT] : [];
      return [path, { [verb]: { parameters, responses: { "200": { description: "The answer as JSON." } } } }];
    }),
  ),
};

export const DESCRIPTION =
  "A gym of verifiable tasks. A reset names an environment and a level, and a step is a completion.";
