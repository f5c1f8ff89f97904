/** `gradus policies`: checks modules of custom policies against the laws that hold for every policy. */
import type { Command } from "commander";
import { noConstraints, type Policy } from "../../server/curriculum/types.ts";
import { definitionOf } from "../../server/curriculum/policies/registry.ts";
import { brokenBy, policyLaws } from "../../server/simulation/policy-laws.ts";
import { loadPolicies, type OwnPolicy } from "../../server/tasks/making/load-policies.ts";
import { print, printJson } from "../print.ts";
import { CliProblem, fileProblem } from "../problem.ts";

interface BrokenLaw {
  readonly policy: string;
  /** Parameters with which the policy was tested. They are one of its examples. */
  readonly parameters: unknown;
  readonly law: string;
  readonly broken: string;
}

export function addPolicies(program: Command): void {
  const command = program.command("policies");
  command
    .command("check")
    .description("check the policies of a module against the laws that hold for Gradus's own policies")
    .argument("<file>", "a module whose default export is a list of policies' definitions")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
A policy is tried with each of its examples (parameters), or with its default parameters if it has no examples. The runs
have eight arms: real/T0 to real/T3 and synthetic/T0 to synthetic/T3. The module runs with the rights of this process.

Example:
  gradus policies check examples/policies/weakest-part.ts`,
    )
    .action(check);
}

async function check(file: string, { json }: { readonly json?: boolean }): Promise<void> {
  const loaded = await loadPolicies([file]);
  if (loaded.kind === "invalid") throw fileProblem(loaded.message.replace(/^--policies /, ""));
  const found = loaded.policies.flatMap(brokenLaws);
  const names = loaded.policies.map(({ kind }) => kind);
  if (json) printJson({ file, policies: names, laws: policyLaws.length, broken: found });
  else {
    for (const { policy, parameters, law, broken } of found)
      print(`${policy} ${JSON.stringify(parameters)}\n  law: ${law}\n  ${broken}`);
    if (found.length === 0) print(`${names.join(", ")}: ${policyLaws.length} laws hold.`);
  }
  if (found.length > 0) throw new CliProblem("failure", `${found.length} laws are broken`);
}

function brokenLaws(own: OwnPolicy): readonly BrokenLaw[] {
  const { kind, examples = [{}] } = own;
  return examples.flatMap((parameters) => {
    const found = (law: string, broken: string): BrokenLaw => ({ policy: kind, parameters, law, broken });
    let policy: Policy;
    try {
      policy = { kind, config: own.read(parameters), constraints: noConstraints };
    } catch (error) {
      return [found("its parameters are read", error instanceof Error ? error.message : String(error))];
    }
    const subject = { policy, definition: definitionOf(policy) };
    return policyLaws.flatMap((law) => {
      const broken = brokenBy(law, subject);
      return broken === undefined ? [] : [found(law.title, broken)];
    });
  });
}
