/**
 * Finds the start and the end of each row in a text without parsing the rows, so that a broken row does not affect the
 * others.
 */
import { PoolFileProblem } from "./bytes.ts";

/** Called with each row's start and end, in bytes from the start of the text. */
type OnRow = (start: number, end: number) => void;

/** Finds the rows of a text that is passed piece by piece. */
export interface Splitter {
  /**
   * Takes the next piece of the text, which begins `offset` bytes after the start of the text. Returns the offset at
   * which the first incomplete row begins.
   */
  take(bytes: Buffer, offset: number): number;
  /** Tells the splitter that the text is complete. `length` is the whole text's length in bytes. */
  end(length: number): void;
}

const [NEWLINE, SPACE, QUOTE, COMMA, BACKSLASH] = [10, 32, 34, 44, 92];
const [LIST, LIST_END, OBJECT, OBJECT_END] = [91, 93, 123, 125];

const isSpace = (byte: number): boolean => byte === SPACE || (byte >= 9 && byte <= 13);

export function lineSplitter(onRow: OnRow): Splitter {
  let start = 0;
  return {
    take(bytes, offset) {
      for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) {
        onRow(start, offset + at);
        start = offset + at + 1;
      }
      return start;
    },
    end: (length) => void (length > start && onRow(start, length)),
  };
}

/**
 * Finds the rows of a CSV text. A row includes its line end. A line break between quotes belongs to the field's text.
 * Quotes count only if they open at the start of a field.
 */
export function csvSplitter(delimiter: string, onRow: OnRow): Splitter {
  const separator = delimiter.charCodeAt(0);
  let [start, inQuotes, atFieldStart] = [0, false, true];
  return {
    take(bytes, offset) {
      for (let i = 0; i < bytes.length; i++) {
        const byte = bytes[i]!;
        const wasInQuotes = inQuotes;
        // Two quotes within a quoted field stand for one quote. Here the first closes the field, and the second opens
        // it again.
        if (wasInQuotes) inQuotes = byte !== QUOTE;
        else if (byte === QUOTE) inQuotes = atFieldStart;
        else if (byte === NEWLINE) onRow(start, (start = offset + i + 1));
        atFieldStart = byte === separator || byte === NEWLINE || (wasInQuotes && !inQuotes);
      }
      return start;
    },
    end(length) {
      if (inQuotes) throw new PoolFileProblem("a quote in its last row is not closed: the file may be cut off");
      if (length > start) onRow(start, length);
    },
  };
}

/**
 * Finds the rows of a JSON text whose rows may span several lines. The text is a list of rows (`isList`), or has one
 * row after another.
 */
export function jsonSplitter(isList: boolean, onRow: OnRow): Splitter {
  let [depth, start, last] = [0, -1, -1];
  let [inText, isEscaped, isClosed] = [false, false, false];
  let isOpen = !isList;
  const endRow = (end: number): void => {
    onRow(start, end);
    start = -1;
  };
  const takeOutside = (byte: number, at: number): void => {
    if (depth === 0 && isList && (byte === COMMA || byte === LIST_END)) {
      if (start >= 0) endRow(last + 1);
      else if (byte === COMMA) onRow(at, at);
      isClosed = byte === LIST_END;
      return;
    }
    if (start < 0) start = at;
    if (byte === QUOTE) inText = true;
    else if (byte === OBJECT || byte === LIST) depth++;
    else if (byte === OBJECT_END || byte === LIST_END) {
      depth = Math.max(0, depth - 1);
      // Outside of a list, rows need no comma between them.
      if (depth === 0 && !isList) endRow(at + 1);
    }
  };
  return {
    take(bytes, offset) {
      for (let i = 0; i < bytes.length; i++) {
        const byte = bytes[i]!;
        if (inText) {
          if (isEscaped) isEscaped = false;
          else if (byte === BACKSLASH) isEscaped = true;
          else if (byte === QUOTE) inText = false;
        } else if (isSpace(byte)) continue;
        else if (isClosed) throw new PoolFileProblem("more text follows its list of rows");
        else if (isOpen) takeOutside(byte, offset + i);
        else isOpen = true;
        last = offset + i;
      }
      return start < 0 ? offset + bytes.length : start;
    },
    end() {
      if (isList && !isClosed) throw new PoolFileProblem("its list of rows is not closed: the file may be cut off");
      if (start >= 0) endRow(last + 1);
    },
  };
}
