/** `gradus pools`: checks, samples, profiles and extends files of rows. */
import type { Command } from "commander";
import { addCheck } from "./pools/check.ts";
import { addDistract } from "../research/distract/command.ts";
import { addProfile } from "./pools/profile.ts";
import { addSample } from "./pools/sample.ts";

export function addPools(program: Command): void {
  const command = program.command("pools").addHelpText(
    "after",
    `
Examples:
  gradus pools check train.parquet                          whose rows they are, how many of which level and split
  gradus pools check train.jsonl --environment qa --rows    row by row
  gradus pools sample all.parquet --out qa.parquet --environment qa --count 5500 --by discipline
  gradus pools sample sharegpt.jsonl --out writing.jsonl --where 'conversations.length<=4' --count 6650
  gradus pools profile train --pool train=train.jsonl --endpoint http://localhost:8000/v1 --model my-model --out rates.csv
  gradus pools distract questions.jsonl --out qa.jsonl --teacher-url http://localhost:8000/v1 --teacher-model Qwen/Qwen3-32B`,
  );
  for (const add of [addCheck, addSample, addProfile, addDistract]) add(command);
}
