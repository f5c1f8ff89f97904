import type { Command } from "commander";
export function addWatch(_group: Command): void {}
