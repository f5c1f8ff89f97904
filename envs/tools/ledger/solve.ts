/**
 * Finds the shortest plan (list of calls) that solves a task. The policy learns each id, amount and balance that it
 * needs from a call, and that call needs an id or a name learnt before. Every call of the plan is therefore needed.
 */
import { type Account, answerOf, type Customer, idOf, type LedgerInstance, openOrders, sumOf } from "./database.ts";

export interface PlannedCall {
  readonly name: "find" | "get" | "transfer" | "answer";
  readonly arguments: Readonly<Record<string, unknown>>;
}

export function planOf(instance: LedgerInstance): readonly PlannedCall[] {
  const { customers, accounts, named, referrals, payer } = instance;
  const calls: PlannedCall[] = [];
  const find = (table: string, where: Readonly<Record<string, string>>): void =>
    void calls.push({ name: "find", arguments: { table, where } });
  const get = (table: string, id: string): void => void calls.push({ name: "get", arguments: { table, id } });
  const customerId = (place: number): string => idOf("customers", customers[place] as Customer);
  const accountId = (place: number): string => idOf("accounts", accounts[place] as Account);
  const findCustomer = (place: number): void => {
    const { name, city } = customers[place] as Customer;
    find("customers", { name, city });
  };

  findCustomer(named);
  let debtor = named;
  for (let i = 0; i < referrals; i++) {
    get("customers", customerId(debtor));
    debtor = (customers[debtor] as Customer).referredBy;
  }
  find("orders", { customer: customerId(debtor), status: "open" });
  for (const order of openOrders(instance, debtor)) get("orders", idOf("orders", order));
  if (payer !== undefined) {
    find("accounts", { owner: customerId(debtor) });
    get("accounts", accountId(debtor));
    findCustomer(payer);
    find("accounts", { owner: customerId(payer) });
    calls.push({
      name: "transfer",
      arguments: { from: accountId(payer), to: accountId(debtor), amount: sumOf(instance) },
    });
  }
  calls.push({ name: "answer", arguments: { value: answerOf(instance) } });
  return calls;
}

/** Returns the smallest number of calls that is certain to solve the task. */
export function fewestCalls(instance: LedgerInstance): number {
  return planOf(instance).length;
}
