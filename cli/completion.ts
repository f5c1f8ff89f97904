/**
 * Writes shell completion scripts from the definitions of the commands. A script contains all words, so that completing
 * with TAB starts no process. A flag means the same in all commands, so its values are written once.
 */
import type { Argument, Command, Option } from "commander";

export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

/** Values that may follow a flag or stand for an argument: paths of files, known words, or anything. */
type Values =
  { readonly kind: "files" } | { readonly kind: "words"; readonly words: readonly string[] } | { readonly kind: "any" };

interface Word {
  readonly names: readonly string[];
  readonly meaning: string;
  readonly takesValue: boolean;
}

/** Command, or group of commands, with the words that may follow it on the command line. */
interface CommandEntry {
  /** Name such as "run start". Empty for `gradus` itself. */
  readonly path: string;
  readonly commands: readonly Word[];
  readonly options: readonly Word[];
  readonly argument: Values;
}

interface Tree {
  readonly entries: readonly CommandEntry[];
  readonly values: ReadonlyMap<string, Values>;
}

/**
 * Known words for arguments and options, e.g. ids of environments. The keys are the placeholders in the help text, e.g.
 * "environment".
 */
export type CompletionWords = Readonly<Record<string, readonly string[]>>;

export function completionScript(shell: Shell, program: Command, known: CompletionWords): string {
  const entries = entriesOf(program, "", known);
  const values = new Map<string, Values>();
  for (const option of optionsOf(program))
    for (const name of namesOf(option))
      if (option.required || option.optional) values.set(name, valuesOf(option, known));
  return { bash, zsh, fish }[shell]({ entries, values });
}

function entriesOf(command: Command, path: string, known: CompletionWords): readonly CommandEntry[] {
  const subcommands = command
    .createHelp()
    .visibleCommands(command)
    .filter((each) => command.commands.includes(each));
  const entry: CommandEntry = {
    path,
    commands: subcommands.map((each) => wordOf([each.name()], each.description(), false)),
    options: command
      .createHelp()
      .visibleOptions(command)
      .map((option) => wordOf(namesOf(option), option.description, option.required || option.optional)),
    argument: argumentOf(command.registeredArguments, known),
  };
  return [entry, ...subcommands.flatMap((each) => entriesOf(each, `${path} ${each.name()}`.trim(), known))];
}

function optionsOf(command: Command): readonly Option[] {
  return [...command.options, ...command.commands.flatMap(optionsOf)];
}

function namesOf({ long, short }: Option): readonly string[] {
  return [long, short].filter((name) => name !== undefined && name !== null);
}

/** Returns a word that TAB may complete, e.g. a flag, with the beginning of its help text, at most 80 characters. */
function wordOf(names: readonly string[], description: string, takesValue: boolean): Word {
  return {
    names,
    meaning: description
      .replace(/[;:(].*$/s, "")
      .trim()
      .slice(0, 80),
    takesValue,
  };
}

function valuesOf({ argChoices, flags }: Option, known: CompletionWords): Values {
  return argChoices === undefined
    ? valuesNamed(flags.replace(/^.*<|>.*$/g, ""), flags, known)
    : { kind: "words", words: argChoices };
}

/** Returns the possible values of a command's first argument that takes known words or files. */
function argumentOf(given: readonly Argument[], known: CompletionWords): Values {
  const all = given.map((argument): Values => {
    if (argument.argChoices !== undefined) return { kind: "words", words: argument.argChoices };
    return valuesNamed(argument.name(), argument.name(), known);
  });
  return all.find(({ kind }) => kind !== "any") ?? { kind: "any" };
}

function valuesNamed(name: string, flags: string, known: CompletionWords): Values {
  const words = known[/^--(environment|suite) /.exec(flags)?.[1] ?? name];
  if (words !== undefined) return { kind: "words", words };
  return /file|path|directory/.test(name) ? { kind: "files" } : { kind: "any" };
}

const MADE = "# Completion of gradus, made by gradus completion: make it again after an upgrade.\n";

/** Returns a text in single quotes for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Returns the branches of a case statement in bash or zsh, one for each entry. */
function cases<T>(entries: Iterable<readonly [string, T]>, body: (value: T) => string): string {
  return [...entries].map(([key, value]) => `    ${quoted(key)}) ${body(value)} ;;\n`).join("");
}

function atEntries({ entries }: Tree, body: (entry: CommandEntry) => string): string {
  return cases(
    entries.map((each) => [each.path, each]),
    body,
  );
}

function inPosix(values: Values): string {
  if (values.kind === "files") return "files=1";
  return values.kind === "words" ? `values=(${values.words.map(quoted).join(" ")})` : ":";
}

const paths = ({ entries }: Tree): string =>
  entries
    .slice(1)
    .map(({ path }) => quoted(path))
    .join("|");

function bash(tree: Tree): string {
  const entry = ({ commands, options, argument }: CommandEntry): string =>
    `words=(${[...commands, ...options]
      .flatMap(({ names }) => names)
      .map(quoted)
      .join(" ")}); ${inPosix(argument)}`;
  return `${MADE}_gradus() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} at= word i known= files= words=() values=()
  # Bash takes "=" for a word of its own.
  [[ $cur == = ]] && cur=
  [[ $prev == = ]] && prev=\${COMP_WORDS[COMP_CWORD-2]}
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${at:+$at }\${COMP_WORDS[i]}
    case $word in ${paths(tree)}) at=$word ;; esac
  done
  known=1
  case $prev in
${cases(tree.values, inPosix)}    *) known= ;;
  esac
  if [[ -z $known ]]; then
    case $at in
${atEntries(tree, entry)}    esac
    if [[ $cur == -* ]]; then files= values=(); fi
    if [[ $cur == -* || \${#values[@]} -eq 0 ]]; then values+=("\${words[@]}"); fi
  fi
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "\${values[*]}" -- "$cur"))
  if [[ -n $files ]]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$cur"))
  fi
}
complete -F _gradus gradus
`;
}

function zsh(tree: Tree): string {
  const described = (words: readonly Word[]): string =>
    words.flatMap(({ names, meaning }) => names.map((name) => quoted(`${name}:${meaning}`))).join(" ");
  const entry = ({ commands, options, argument }: CommandEntry): string =>
    `commands=(${described(commands)}); options=(${described(options)}); ${inPosix(argument)}`;
  return `#compdef gradus
${MADE}_gradus() {
  local cur=\${words[CURRENT]} prev=\${words[CURRENT-1]} at= word known=1 files= i
  local -a commands options values
  for ((i = 2; i < CURRENT; i++)); do
    word=\${at:+$at }\${words[i]}
    case $word in (${paths(tree)}) at=$word ;; esac
  done
  if [[ $cur == --*=* ]]; then
    prev=\${cur%%=*}
    compset -P '*='
  fi
  case $prev in
${cases(tree.values, inPosix)}    *) known= ;;
  esac
  if [[ -z $known ]]; then
    case $at in
${atEntries(tree, entry)}    esac
    if [[ $cur == -* ]]; then files= values=(); fi
    [[ \${#commands} -gt 0 ]] && _describe -t commands command commands
    [[ $cur == -* || ( -z $files && \${#values} -eq 0 ) ]] && _describe -t options option options
  fi
  [[ \${#values} -gt 0 ]] && compadd -a values
  [[ -n $files ]] && _files
  return 0
}
if [[ \${funcstack[1]} == _gradus ]]; then _gradus "$@"; else compdef _gradus gradus; fi
`;
}

function fish({ entries, values }: Tree): string {
  const quote = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const valueFlags = (found: Values | undefined): string => {
    if (found?.kind === "words") return ` -x -a ${quote(found.words.join(" "))}`;
    return found?.kind === "files" ? " -r -F" : " -x";
  };
  const option = (at: string, { names, meaning, takesValue }: Word): string => {
    const flags = names
      .map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`))
      .join(" ");
    return `${at} ${flags}${takesValue ? valueFlags(values.get(names[0] ?? "")) : ""} -d ${quote(meaning)}`;
  };
  const lines = entries.flatMap(({ path, commands, options, argument }) => {
    const at = `complete -c gradus -n ${quote(`__gradus_at ${quote(path)}`)}`;
    const words = argument.kind === "words" ? [`${at} -f -a ${quote(argument.words.join(" "))}`] : [];
    return [
      ...(argument.kind === "files" ? [`${at} -F`] : words),
      ...commands.map(({ names: [name = ""], meaning }) => `${at} -f -a ${name} -d ${quote(meaning)}`),
      ...options.map((each) => option(at, each)),
    ];
  });
  return `${MADE}function __gradus_at
  set -l at
  for word in (commandline -opc)[2..]
    contains -- (string trim "$at $word") ${entries
      .slice(1)
      .map(({ path }) => quote(path))
      .join(" ")}
    and set at (string trim "$at $word")
  end
  test "$at" = "$argv[1]"
end
complete -c gradus -f
${lines.join("\n")}
`;
}
