/** Reads tables of words that are written as text: a list with each word on its own line would hide their groups. */

/** Returns the words of a text. White space separates them. */
export const wordsOf = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Returns the entries of a table, which may hold spaces. Each ends at a "|" or at the end of a line. */
export const entriesOf = (table: string): readonly string[] => table.trim().split(/\s*[|\n]\s*/);
