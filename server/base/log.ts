/** Logger for failures of background work. A `pino` logger can be passed as one. */
export interface Log {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}
