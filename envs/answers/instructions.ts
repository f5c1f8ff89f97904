/**
 * Removes instructions about the form of the answer, and remains of chat templates, from problems of public data sets.
 * Such an instruction may contradict the task's own answer format, and an answer that follows it would be malformed.
 */

/**
 * Kind of environment that uses a problem's text. Each kind keeps the instructions that may be part of its own
 * problems.
 */
export type ProblemKind = "math" | "qa" | "code";

export interface CutText {
  readonly text: string;
  /** The instructions and template remains that were cut, in the order of the text. */
  readonly cut: readonly string[];
  /**
   * Sentences that look like instructions about the form of the answer but were kept, because they may be part of the
   * problem.
   */
  readonly left: readonly string[];
}

/**
 * Matches a text that may contain an instruction about the form of the answer. Most texts do not match, and are not
 * examined further.
 */
const HINT = /box|answer|[<｜]|step|###|\[INST|assistant|respon|letter|```|json|(?:solution:?|A:)\s{0,8}$/i;

/** Maximum length of an instruction, in characters. A longer sentence is kept as part of the problem. */
const SENTENCE_MAX = 600;

// Patterns of the forms in which a problem may tell the model to write its answer, e.g. in a box.

const BOX = String.raw`\\+f?box(?:ed)?\b|\bboxed\b|\bbox your\b|\bin(?:side)? a box\b`;
const TAGS = String.raw`<\s*/?\s*(?:answer|think|thinking|reasoning|solution|final_answer)\s*>|\b(?:answer|think|xml) tags?\b`;
const LABEL = String.raw`["'“‘\`*]\W{0,3}(?:so,? |therefore,? )?(?:the )?(?:final |correct )?answer\b|\banswer:\s*(?:\\?\$|\[|<|\{|X\b|LETTER)|####|\bjson\b`;
const LETTER = String.raw`\b(?:option|choice|answer)(?:'s)? letters?\b|\bletters? (?:of|for|choice|corresponding|only|alone)\b|\b(?:only|single|one|just) (?:the |a )?(?:single |capital |uppercase |correct )*letter\b|\(?\bA, ?B, ?C\b`;
const FENCE = "```|\\bdelimiters\\b|\\b(?:markdown|code) (?:code )?block|\\bbackticks\\b";

const FORMS: Readonly<Record<ProblemKind, string>> = {
  math: `${BOX}|${TAGS}|${LABEL}`,
  qa: `${BOX}|${TAGS}|${LABEL}|${LETTER}`,
  // Labels such as "Answer:" are missing, because in programming problems they may describe the program's output.
  code: String.raw`\\+boxed\b|${TAGS}|${FENCE}`,
};

// Parts of patterns for sentences that tell the model how to mark its answer, e.g. by a box or by tags.

const LEAD = String.raw`(?:(?:please|finally|lastly|then|and|also|note|important|remember|make sure|be sure|ensure|you (?:must|should|need|have|are (?:required|asked|expected)|will)|(?:do not|don't) forget|at the (?:very )?end(?: of your \w+)?|always|first|let'?s|let us|just|only|simply|strictly|(?:if|when|once|after|before|regardless|in|for)\b[^,.]{0,80},|that|to|you|\*|[-•]|\d[.)])[,:]?\s*)*`;
const STEPS = String.raw`(?:(?:think|reason|solve|work|proceed|explain|answer|show|provide)\b[^.,;:]{0,60}?\bstep[- ]by[- ]step\b[^,.;:]{0,40}[,.;:]?\s*)`;
const VERB = String.raw`(?:put|place|write|enclose|wrap|give|present|provide|return|output|box|state|report|submit|express|show|include|display|mark|surround|format|end|conclude|finish|respond|answer|reply|use|indicate|choose|select|generate|think|reason|(?:the |your )?final answer (?:in|inside|within|as))`;
const SUBJECT = String.raw`(?:(?:your|the|all|each)\b[^.,]{0,50}?\b(?:answer|response|solution|reply|output|code|program|result|choice|reasoning process|thought process|line)s?\b[^.]{0,60}?\b(?:should|must|needs?|will|has|have|(?:is|are) (?:to|enclosed|wrapped|placed|put|given)))`;
const ANSWER = String.raw`<|\b(?:answer|response|solution|reply|result|choice|option|code|program|output|reasoning|thoughts?|conclude|respond)`;
/**
 * Matches sentences, such as "think step by step", that are cut only at the start or end of the text, or next to
 * another cut sentence. Elsewhere they may be part of the problem.
 */
const NEARBY = new RegExp(String.raw`^(?:${LEAD}${STEPS}|i hope it is correct\.?)$`, "i");
/**
 * Matches a sentence that shows the required form of the answer with a placeholder, such as "The answer is
 * \boxed{answer}".
 */
const PLACEHOLDER =
  /^(?:(?:therefore|so|thus),? )?the (?:final )?answer is:? .{0,4}\\+boxed\{\W*(?:your )?(?:final )?(?:answer)?\W*\}|^where \W*(?:answer|letter|x)\W* is\b/i;
/**
 * Matches a part of an example of the answer's form, e.g. "<answer>", "\boxed{…}" or "your answer here". A line that
 * consists only of such parts is an example. LABEL_LINE matches an example with a label and brackets.
 */
const EXAMPLE =
  /<\s?\/?\s?[a-z_]+\s?>|\\+boxed\{[^{}]*\}|\b(?:[\w,'-]+ ){0,8}here\b[.\])]?|```(?:python)?|(?:# ?)?your code|(?:for )?example:|at the end|[\d.…]/gi;
const LABEL_LINE = /^[\w ]{1,30}:\s*[{<[(][^\n]{0,200}[}>\])][^\n]{0,80}$/;
const OPENER = new RegExp(
  String.raw`^${LEAD}(?:respond|reply|answer|(?:your|the) (?:\w+ )?(?:response|answer|reply)|use|conclude|(?:enclose|present|write) (?:your|the) (?:code|answer))\b.*(?:format|follows|with|template|in)\b.{0,40}$`,
  "i",
);

interface Rules {
  readonly form: RegExp;
  readonly whole: RegExp;
  /**
   * Matches an instruction about the form of the answer at the end of a sentence whose beginning is part of the
   * problem.
   */
  readonly clause: RegExp;
}

function rulesOf(kind: ProblemKind): Rules {
  const form = FORMS[kind];
  const whole = String.raw`^${LEAD}(?:${STEPS}(?:and |then )*)?${LEAD}(?:${VERB}\b|${SUBJECT}\b)`;
  const clause = String.raw`[,;]?\s(?:and |then ){1,2}(?:please )?${VERB} (?:your|the) (?:final )?(?:answer|code|solution|response)s?\b[^.]{0,60}?(?:${form})[^.?]{0,60}?(?=[.?]?$)`;
  return { form: new RegExp(form, "i"), whole: new RegExp(whole, "i"), clause: new RegExp(clause, "i") };
}

const RULES: Readonly<Record<ProblemKind, Rules>> = { math: rulesOf("math"), qa: rulesOf("qa"), code: rulesOf("code") };
/** Matches sentences that may ask for a form of the answer. Applied to sentences that were kept, to report them. */
const ASKS =
  /\b(?:your|the final) (?:\w+ ){0,2}(?:answer|response|solution|choice|code)\b|\b(?:answer|respond|reply) (?:with|in|by|as)\b/i;
const SAYS_ANSWER = new RegExp(ANSWER, "i");

function isInstruction(sentence: string, { form, whole }: Rules): boolean {
  const said = sentence.trim();
  if (said.length > SENTENCE_MAX || said.endsWith("?")) return false;
  if (PLACEHOLDER.test(said)) return true;
  return whole.test(said) && form.test(said) && SAYS_ANSWER.test(said) && !/\\boxed\{[^}]*\}\s*[=+]/.test(said);
}

// Patterns of the remains of chat templates.

const USER =
  /<\|im_start\|>user\b|<\|start_header_id\|>user<\|end_header_id\|>|\[INST\](?:\s?<<SYS>>[\s\S]{0,2000}?<<\/SYS>>)?|<start_of_turn>user\b|<\|user\|>|<｜User｜>/gi;
const END =
  /<\|im_end\|>|<\|im_start\|>assistant|<\|eot_id\|>|<\|start_header_id\|>assistant|\[\/INST\]|<end_of_turn>|<start_of_turn>model|<\|assistant\|>|<\|end\|>|<｜Assistant｜>|<\|endoftext\|>/i;
const BEGINNING = /^\s*(?:<\|begin_of_text\|>|<\|endoftext\|>|<｜begin▁of▁sentence｜>|<bos>)\s*/i;
const PREAMBLE =
  /^\s{0,8}(?:(?:A (?:conversation|chat) between|Below is an instruction that)[\s\S]{0,1500}?\s{0,8})?(?:### ?)?(?:User|Human|Instruction):\s*/i;
const REPLY =
  /\n\s{0,8}(?:### ?)?(?:Assistant|Response|AI):\s{0,8}(?:Let(?:'s| me) (?:solve|think)[^\n]{0,60})?\s{0,8}(?:<think>)?$/i;
/** Matches a label such as "Answer:" at the end of a text, which asks for the answer. */
const ANSWER_LABEL = /\n\s{0,8}(?:(?:#+ *)?\**(?:final )?(?:answer|solution)\**(?: \([^)\n]{0,60}\))? ?:?\**|A:)$/i;

function withoutTemplate(text: string, cut: string[]): string {
  const users = [...text.matchAll(USER)];
  let [from, to] = [0, text.length];
  const [user] = users;
  if (user !== undefined && users.length === 1) from = user.index + user[0].length;
  else from = BEGINNING.exec(text)?.[0].length ?? 0;
  const ends = users.length > 1 ? null : END.exec(text.slice(from));
  // If no mark begins the user's turn, an end mark only belongs to a template if it is within the last 100 characters.
  if (ends !== null && (users.length === 1 || text.length - from - ends.index < 100)) to = from + ends.index;
  const preamble = PREAMBLE.exec(text.slice(from, to));
  const reply = REPLY.exec(text.slice(from, to).trimEnd());
  if (preamble !== null && (reply !== null || preamble[0].length > 20)) from += preamble[0].length;
  if (reply !== null) to = text.slice(0, to).trimEnd().length - reply[0].length;
  for (const part of [text.slice(0, from), text.slice(to)]) if (part.trim() !== "") cut.push(part.trim());
  return text.slice(from, to);
}

/** Splits a text into sentences, and at line breaks. Each sentence keeps the white space after it. */
function sentencesOf(text: string): readonly string[] {
  return text.split(/(?<=\n)|(?<=[.!?]["'”)]?)(?<!\b(?:e\.g|i\.e|etc|vs|cf)\.)(?<!\.\.\.)(?<=\S)(?= +\S)/);
}

/** Cuts the instructions about the form of the answer from a problem. The time is linear in the text's length. */
export function cutInstructions(text: string, kind: ProblemKind): CutText {
  const [rules, cut] = [RULES[kind], [] as string[]];
  if (!HINT.test(text)) return { text, cut, left: cut };
  const sentences = [...sentencesOf(withoutTemplate(text, cut))];
  const gone = sentences.map((sentence) => isInstruction(sentence, rules));
  cutExamples(sentences, gone, kind);
  const places = sentences.flatMap((sentence, i) => (sentence.trim() === "" ? [] : [i]));
  for (const order of [places, places.toReversed()])
    for (const [n, i] of order.entries())
      gone[i] ||= NEARBY.test(sentences[i]!.trim()) && (n === 0 || gone[order[n - 1]!] === true);
  const kept: string[] = [];
  const left: string[] = [];
  for (const [i, sentence] of sentences.entries()) {
    const clause = rules.clause.exec(sentence.trimEnd());
    if (gone[i]) cut.push(sentence.trim());
    else if (clause !== null) {
      cut.push(clause[0].trim());
      kept.push(sentence.replace(clause[0], ""));
    } else {
      kept.push(sentence);
      if (END.test(sentence) || (rules.form.test(sentence) && ASKS.test(sentence))) left.push(sentence.trim());
    }
  }
  const rest = kept.join("").trimEnd();
  // A label such as "Answer:" at the end of a programming task stays, because the program may have to print it.
  const label = kind === "code" ? null : ANSWER_LABEL.exec(rest);
  if (label !== null) cut.push(label[0].trim());
  const shown = rest.slice(0, label?.index).trim();
  // If everything would be cut, the text is a problem that only looks like an instruction, and is kept whole.
  return shown === "" ? { text, cut: [], left: cut } : { text: cut.length === 0 ? text : shown, cut, left };
}

/**
 * Marks for removal (in `gone`) each sentence that announces an example of the answer's form, and the sentences that
 * only show the example.
 */
function cutExamples(sentences: readonly string[], gone: boolean[], kind: ProblemKind): void {
  for (const [i, sentence] of sentences.entries()) {
    const opens = sentence.length <= SENTENCE_MAX && OPENER.test(sentence.trim());
    if (!gone[i] && !opens) continue;
    let end = i + 1;
    for (; end < sentences.length; end++) {
      const said = sentences[end]?.trim() ?? "";
      if (
        said !== "" &&
        said.replaceAll(EXAMPLE, "").trim() !== "" &&
        !(kind !== "code" && LABEL_LINE.test(said)) &&
        !gone[end]
      )
        break;
    }
    const example = sentences.slice(i + 1, end).join("");
    if (/answer|think|```|boxed/i.test(example)) gone.fill(true, i, end);
  }
}
