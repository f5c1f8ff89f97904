/** Generates the databases of tasks and the questions about them. */
import { defineGenerator } from "../../define.ts";
import type { Level } from "../../environment.ts";
import type { Rng } from "../../lib/rng.ts";
import { defineParameters, type ParametersOf, type Range, wholeNumber } from "../../parameters.ts";
import type { Customer, LedgerInstance, Order } from "./database.ts";

const parameters = defineParameters({
  customers: wholeNumber("Customers of the database.", 12, [10, 48]),
  referrals: wholeNumber("Referrals from the named customer to the one whose orders count.", 1, [0, 3]),
  orders: wholeNumber("Open orders that count.", 2, [1, 6]),
  transfer: wholeNumber("1 if the task asks for a transfer, 0 if it only asks for a sum.", 0, [0, 1]),
});

type LedgerParameters = ParametersOf<typeof parameters>;

const FIRST_NAMES = ["Ada", "Ben", "Chloe", "Dan", "Elif", "Femi", "Grace", "Hugo", "Ines", "Jun", "Kofi", "Lena"];
const LAST_NAMES = [
  "Abbot",
  "Berg",
  "Costa",
  "Diaz",
  "Evans",
  "Fischer",
  "Gupta",
  "Haas",
  "Ito",
  "Jones",
  "Kim",
  "Lee",
];
const CITIES = ["Accra", "Bergen", "Cusco", "Delhi", "Essen", "Fargo", "Ghent", "Hanoi"];

/** Returns `count` different random numbers from `min` to `max`, both included. */
function differentOf(count: number, [min, max]: Range, rng: Rng): readonly number[] {
  const numbers = new Set<number>();
  while (numbers.size < count) numbers.add(rng.int(min, max));
  return [...numbers];
}

/** Range of the digits of ids, so large that a policy cannot guess an id. */
const IDS: Range = [100_000, 999_999];

const levels: readonly Level<LedgerParameters>[] = [
  {
    name: "easy",
    description: "the amount of one order",
    parameters: { customers: 10, referrals: 0, orders: 1, transfer: 0 },
  },
  {
    name: "medium",
    description: "the sum of two orders of the customer who referred another one",
    parameters: { customers: 12, referrals: 1, orders: 2, transfer: 0 },
  },
  {
    name: "hard",
    description: "a transfer that pays two orders of the customer who referred another one",
    parameters: { customers: 16, referrals: 1, orders: 2, transfer: 1 },
  },
  {
    name: "expert",
    description: "a transfer that pays four orders of a customer two referrals away",
    parameters: { customers: 24, referrals: 2, orders: 4, transfer: 1 },
  },
];

/**
 * Returns customers. The first one is the named customer. Each of the next `referrals` customers referred the customer
 * before, and nobody else. The payer of the transfer follows. The named customer and the payer have namesakes in other
 * cities.
 */
function customersOf({ customers: count, referrals }: LedgerParameters, rng: Rng): readonly Customer[] {
  const ids = differentOf(count, IDS, rng);
  const names = differentOf(count, [0, FIRST_NAMES.length * LAST_NAMES.length - 1], rng).map(
    (name) => `${FIRST_NAMES[name % FIRST_NAMES.length]} ${LAST_NAMES[Math.floor(name / FIRST_NAMES.length)]}`,
  );
  const cities = names.map(() => rng.int(0, CITIES.length - 1));
  const payer = referrals + 1;
  for (const [original, namesake] of [
    [0, payer + 1],
    [payer, payer + 2],
  ] as const) {
    names[namesake] = names[original] as string;
    cities[namesake] = ((cities[original] as number) + rng.int(1, CITIES.length - 1)) % CITIES.length;
  }
  return ids.map((id, place) => {
    const another = rng.int(payer, count - 2);
    const referredBy = place < referrals ? place + 1 : another < place ? another : another + 1;
    return { id, name: names[place] as string, city: CITIES[cities[place] as number] as string, referredBy };
  });
}

export const generator = defineGenerator({
  parameters,
  levels,
  generate(given: LedgerParameters, rng: Rng): LedgerInstance {
    const { customers: count, referrals, orders: wanted, transfer } = given;
    const customers = customersOf(given, rng);
    const orders: Omit<Order, "id">[] = [];
    const addOrders = (customer: number, isOpen: boolean, number: number): void => {
      for (let i = 0; i < number; i++) orders.push({ customer, isOpen, amount: rng.int(1000, 99_999) });
    };
    for (let customer = 0; customer < count; customer++) {
      const isAsked = customer === referrals;
      addOrders(customer, true, isAsked ? wanted : rng.int(0, wanted));
      addOrders(customer, false, rng.int(isAsked ? 1 : 0, 2));
    }
    const ids = differentOf(orders.length, IDS, rng);
    // Shuffle the customers, so that an index says nothing about a customer's role in the task.
    const shuffled = rng.shuffle(customers.map((_, place) => place));
    const placed = new Map(shuffled.map((before, place) => [before, place]));
    const now = (before: number): number => placed.get(before) as number;
    return {
      customers: shuffled.map((before) => {
        const customer = customers[before] as Customer;
        return { ...customer, referredBy: now(customer.referredBy) };
      }),
      accounts: differentOf(count, IDS, rng).map((id) => ({ id, balance: rng.int(1000, 999_999) })),
      orders: rng
        .shuffle(orders)
        .map((order, i) => ({ id: ids[i] as number, ...order, customer: now(order.customer) })),
      named: now(0),
      referrals,
      payer: transfer === 1 ? now(referrals + 1) : undefined,
    };
  },
});
