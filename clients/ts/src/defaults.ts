/** Defaults of the client. The Python client has the same defaults (test/clients/defaults.json). */

/** Deadline of a call, retries included, in milliseconds. */
export const DEADLINE_MS = 60_000;
/**
 * Deadline of `nextBatch`, in milliseconds. It is longer than that of other calls because the server may wait for
 * feedback first.
 */
export const NEXT_BATCH_DEADLINE_MS = 600_000;
/** Maximum number of groups of a stream that wait for a result. */
export const WINDOW = 64;
/**
 * Maximum number of retries of a call as long as no server has ever answered the client. An error that names a retry
 * delay is retried without a maximum.
 */
export const RETRIES_UNREACHED = 4;
/** First delay before a retry, in milliseconds, if the server gives none. Each further delay is twice as long. */
export const DELAY_MS_FIRST = 100;
/** Maximum delay before a retry, in milliseconds, if the server gives none. */
export const DELAY_MS_MAX = 5_000;
/** Action for a score that its run did not record: a message is logged once, and the score is counted. */
export const ON_FEEDBACK = "warn";
