/**
 * Splits tables of words that are written as text, because an array with one word per line would hide how they are
 * grouped.
 */

/** Returns the words of a text. White space separates them. */
export const splitWords = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Returns the entries of a table. An entry may contain spaces, and ends at a "|" or at the end of a line. */
export const splitEntries = (table: string): readonly string[] => table.trim().split(/\s*[|\n]\s*/);
