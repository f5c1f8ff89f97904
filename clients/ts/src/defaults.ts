/** What holds where a caller says nothing. Python's client has the same (test/clients/defaults.json). */

/** Of calls, retries included. */
export const DEADLINE_MS = 60_000;
/** Of `nextBatch`, which waits for feedback that is due. */
export const NEXT_BATCH_DEADLINE_MS = 600_000;
/** Groups of a stream on their way at once. */
export const WINDOW = 64;
/** How often a call is sent again where no server has ever answered, and none says when to. */
export const RETRIES_UNREACHED = 4;
/** First delay before a call is sent again, where the server names none; it doubles each time, up to the greatest. */
export const DELAY_MS_FIRST = 100;
export const DELAY_MS_MAX = 5_000;
/** Of a score that its run did not record: said once, and counted. */
export const ON_FEEDBACK = "warn";
