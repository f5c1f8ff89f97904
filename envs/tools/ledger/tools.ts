/** Tools by which a policy reads and changes the database. */
import type { Tool } from "../../turns/turns.ts";

function toolOf(name: string, description: string, properties: Readonly<Record<string, unknown>>): Tool {
  return { name, description, parameters: { type: "object", properties, required: Object.keys(properties) } };
}

const table = { type: "string", enum: ["customers", "accounts", "orders"] };

export const tools: readonly Tool[] = [
  toolOf("find", "Returns the ids of the rows of a table that have the given values.", {
    table,
    where: {
      type: "object",
      additionalProperties: { type: "string" },
      description:
        "Values by column. customers: name, and optionally city. accounts: owner, the id of a customer. orders: customer, the id of a customer, and optionally status.",
    },
  }),
  toolOf("get", "Returns the row of a table with the given id.", { table, id: { type: "string" } }),
  toolOf("transfer", "Transfers an amount from an account to another one. Accounts may be overdrawn.", {
    from: { type: "string", description: "Id of the account that pays." },
    to: { type: "string", description: "Id of the account that receives." },
    amount: { type: "integer" },
  }),
  toolOf("answer", "Gives the answer, which ends the task.", { value: { type: "integer" } }),
];
