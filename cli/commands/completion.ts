/** `gradus completion`: prints a script with which a shell completes this command line. */
import { Argument, type Command } from "commander";
import { completionScript, type Shell, shells } from "../completion.ts";
import { print } from "../print.ts";

/**
 * Adds the command. `whole` builds the program with all commands, because the running program may have loaded only this
 * one.
 */
export function addCompletion(program: Command, whole: () => Promise<Command>): void {
  program
    .command("completion")
    .addArgument(new Argument("<shell>", "the shell").choices(shells))
    .addHelpText(
      "after",
      `
  bash  source <(gradus completion bash)                            in ~/.bashrc
  zsh   source <(gradus completion zsh)                             in ~/.zshrc, after compinit
  fish  gradus completion fish > ~/.config/fish/completions/gradus.fish`,
    )
    .action(async (shell: Shell) => {
      const [{ environments }, { suiteDefinitions }] = await Promise.all([
        import("../../envs/registry.ts"),
        import("../../server/evaluation/shipped-suites.ts"),
      ]);
      const [environment, suite] = [environments, suiteDefinitions].map((all) => [...new Set(all.map(({ id }) => id))]);
      print(completionScript(shell, await whole(), { environment: environment ?? [], suite: suite ?? [] }));
    });
}
