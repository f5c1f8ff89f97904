/** An attacker: a process of its own, which run.ts starts. */
import { fork } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { type AttackName, attacks } from "./attacks.ts";
import { type Attack, type Target, unaryOf } from "./caller.ts";

/**
 * Order to an attacker's process. The process sends 0 when it attacks, then the number of calls that have ended, until
 * it is killed.
 */
export interface Order {
  readonly attack: AttackName;
  readonly target: Target;
}

export interface Attacker {
  /** Returns how many of the attacker's calls have been answered, refused or given up. */
  readonly calls: () => number;
  readonly stop: () => void;
}

/**
 * Starts an attacker. It runs only while the servers leave a core idle (Linux's SCHED_IDLE), because it stands for other
 * machines, whose cores are not the servers'.
 */
export async function startAttack(attack: AttackName, target: Target): Promise<Attacker> {
  const execArgv = ["--idle", "0", process.execPath, ...process.execArgv];
  const child = fork(import.meta.filename, { execPath: "chrt", execArgv });
  const attacking = new Promise((resolve, reject) => {
    child.once("message", resolve);
    child.once("exit", (code) => reject(new Error(`the attacker ended with ${code}`)));
  });
  child.send({ attack, target } satisfies Order);
  await attacking;
  let calls = 0;
  child.on("message", (told: number) => {
    calls = told;
  });
  return { calls: () => calls, stop: () => void child.kill("SIGKILL") };
}

async function carryOut({ attack: name, target }: Order): Promise<void> {
  const { callers, call, prepare }: Attack = attacks[name];
  if (prepare !== undefined) await prepare(unaryOf(target.port));
  let next = 0;
  let ended = 0;
  const again = async (): Promise<never> => {
    const unary = unaryOf(target.port);
    for (;;) {
      // A refused call is repeated at once, as a careless attacker does; the pause keeps the loop from spinning.
      await call({ unary, target }, next++).catch(() => sleep(1));
      ended++;
    }
  };
  const running = Array.from({ length: callers }, again);
  process.send?.(0);
  setInterval(() => process.send?.(ended), 100);
  await Promise.all(running);
}

if (process.argv[1] === import.meta.filename) process.once("message", (order) => void carryOut(order as Order));
