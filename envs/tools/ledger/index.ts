/**
 * Defines the environment `tools/ledger`: look-ups, joins and a transfer in a database by tool calls. README.md opens
 * with an example.
 */
import { formatInstruction } from "../../answers/wording.ts";
import { defineEnvironment } from "../../define.ts";
import type { AnswerFormat, ChatMessage } from "../../prompt.ts";
import { answerOf, type Customer, type LedgerInstance } from "./database.ts";
import { generator } from "./generate.ts";
import { fewestCalls } from "./solve.ts";
import { parse, turns, verify } from "./verify.ts";

function render(instance: LedgerInstance, format: AnswerFormat): readonly ChatMessage[] {
  const content = [
    "A database has three tables. customers: id, name, city and referred_by, the id of the customer who referred this one. accounts: id, owner (the id of a customer) and balance; each customer has one account. orders: id, customer (the id of a customer), status (open or paid) and amount. The tools find and get read it, and transfer changes balances.",
    "",
    questionOf(instance),
    "",
    "Use as few calls as you can. The answer is a whole number. You have one answer, by the tool answer or in a message without a call of a tool. It ends the task.",
    "",
    formatInstruction(format),
  ].join("\n");
  return [{ role: "user", content }];
}

function questionOf({ customers, named, referrals, payer }: LedgerInstance): string {
  const nameOf = (place: number): string => {
    const { name, city } = customers[place] as Customer;
    return `${name} of ${city}`;
  };
  const debtor = `${"the customer who referred ".repeat(referrals)}${nameOf(named)}`;
  if (payer === undefined) return `What is the sum of the amounts of all open orders of ${debtor}?`;
  return `Let X be ${debtor}. Transfer the sum of the amounts of all open orders of X from the account of ${nameOf(payer)} to the account of X, and change no other balance. Then answer with the new balance of the account of X.`;
}

export const ledger = defineEnvironment<LedgerInstance, number>({
  id: "tools/ledger",
  version: 1,
  description:
    "Answer a question about a database, and change it, by calls of tools. The baseline is the fewest calls that are certain to suffice.",
  goal: "minimize",
  generator,
  solver: {
    solve(instance) {
      const value = fewestCalls(instance);
      return { answer: answerOf(instance), value, bound: value, proven: true, nodes: 0 };
    },
    format: String,
  },
  turns,
  render,
  metadata: ({ customers, orders }) => ({ size: `${customers.length} customers, ${orders.length} orders` }),
  answerNames: ["sum", "balance", "new balance", "total"],
  parse,
  verify,
});
