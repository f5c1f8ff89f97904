/** The database of a task: customers, their accounts and their orders. */

export interface Customer {
  /** Six digits of the id, e.g. 482913 for the customer C482913. */
  readonly id: number;
  readonly name: string;
  readonly city: string;
  /** Index in `customers` of the customer who referred this one. */
  readonly referredBy: number;
}

/** Account of the customer at the same index. Each customer has one. */
export interface Account {
  readonly id: number;
  readonly balance: number;
}

export interface Order {
  readonly id: number;
  /** Index in `customers` of the customer who ordered. */
  readonly customer: number;
  readonly isOpen: boolean;
  readonly amount: number;
}

export interface LedgerInstance {
  readonly customers: readonly Customer[];
  readonly accounts: readonly Account[];
  readonly orders: readonly Order[];
  /** Index in `customers` of the customer that the task names. */
  readonly named: number;
  /** Number of referrals from the named customer to the customer whose open orders the task is about. */
  readonly referrals: number;
  /** Index in `customers` of the customer who pays the open orders. Undefined: the task asks for their sum instead. */
  readonly payer: number | undefined;
}

/** Returns the index in `customers` of the customer whose open orders the task is about. */
export function debtorOf({ customers, named, referrals }: LedgerInstance): number {
  let place = named;
  for (let i = 0; i < referrals; i++) place = (customers[place] as Customer).referredBy;
  return place;
}

export function openOrders({ orders }: LedgerInstance, customer: number): readonly Order[] {
  return orders.filter((order) => order.customer === customer && order.isOpen);
}

/** Returns the sum of the amounts of the open orders that the task is about. */
export function sumOf(instance: LedgerInstance): number {
  return openOrders(instance, debtorOf(instance)).reduce((sum, { amount }) => sum + amount, 0);
}

/**
 * Returns the right answer: the sum of the open orders, or the balance of the customer who has them after the transfer.
 */
export function answerOf(instance: LedgerInstance): number {
  const before = instance.payer === undefined ? 0 : (instance.accounts[debtorOf(instance)] as Account).balance;
  return before + sumOf(instance);
}

export type Table = "customers" | "accounts" | "orders";

const LETTERS: Readonly<Record<Table, string>> = { customers: "C", accounts: "A", orders: "O" };

/** Writes the id of a row, e.g. "C482913". */
export function idOf(table: Table, { id }: { readonly id: number }): string {
  return `${LETTERS[table]}${id}`;
}

/** Returns the index in `table` of the row with this id, or -1 if there is no such row. */
export function placeOf(instance: LedgerInstance, table: Table, id: unknown): number {
  return instance[table].findIndex((row) => idOf(table, row) === id);
}

/** A row as the policy sees it. */
export type Row = Readonly<Record<string, string | number>>;

export function rowAt(instance: LedgerInstance, table: Table, place: number): Row {
  const { customers, accounts, orders } = instance;
  const customer = (at: number): string => idOf("customers", customers[at] as Customer);
  if (table === "customers") {
    const { name, city, referredBy } = customers[place] as Customer;
    return { id: customer(place), name, city, referred_by: customer(referredBy) };
  }
  if (table === "accounts") {
    const account = accounts[place] as Account;
    return { id: idOf(table, account), owner: customer(place), balance: account.balance };
  }
  const order = orders[place] as Order;
  const status = order.isOpen ? "open" : "paid";
  return { id: idOf(table, order), customer: customer(order.customer), status, amount: order.amount };
}
