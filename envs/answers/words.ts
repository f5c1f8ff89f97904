/**
 * Finds words of a list in a text, by a tree of letters (trie). A regular expression of hundreds of words would take
 * tens of milliseconds to compile, and block the server meanwhile.
 */

interface Node {
  readonly next: Map<string, Node>;
  isWord: boolean;
}

const SPACES = new Set(" \t\u00a0\u202f\u3000");
/** Maximum number of spaces between words, so that a text of spaces costs little. */
const SPACES_MAX = 4;

/** Returns the offset after the spaces that start at `start`; skips at most SPACES_MAX. */
export function pastSpaces(text: string, start: number): number {
  let at = start;
  while (at < start + SPACES_MAX && SPACES.has(text.charAt(at))) at++;
  return at;
}

/**
 * A list of words in lower case. In the text, accents may be composed, decomposed or missing. A space in a word matches
 * one to four spaces.
 */
export class Words {
  readonly #root: Node = { next: new Map(), isWord: false };

  constructor(words: readonly string[]) {
    for (const word of words) insert(this.#root, Array.from(word.toLowerCase()), word.length > 1);
  }

  /** Returns the end offsets of the words that start at `start`, the longest word first. */
  endsAt(text: string, start: number): readonly number[] {
    const ends: number[] = [];
    let node: Node | undefined = this.#root;
    for (let at = start; ;) {
      const past = pastSpaces(text, at);
      node = node.next.get(past > at ? " " : text.charAt(at));
      if (node === undefined) return ends;
      at = Math.max(past, at + (past > at ? 0 : 1));
      if (node.isWord) ends.unshift(at);
    }
  }
}

/**
 * Adds a word to the tree. An accented one-letter word is found only with its accent, because a bare "e" may be the
 * letter of a multiple-choice option.
 */
function insert(node: Node, [letter, ...rest]: readonly string[], mayBeBare: boolean): void {
  if (letter === undefined) {
    node.isWord = true;
    return;
  }
  const [base = "", mark = ""] = letter.normalize("NFD");
  const spellings = /\p{M}/u.test(mark) ? [letter, base + mark, ...(mayBeBare ? [base] : [])] : [letter];
  for (const spelling of spellings) insert(followed(node, spelling), rest, mayBeBare);
}

function followed(node: Node, spelling: string): Node {
  let at = node;
  for (const unit of spelling.split("")) {
    const next: Node = at.next.get(unit) ?? { next: new Map(), isWord: false };
    at.next.set(unit, next);
    at = next;
  }
  return at;
}
