/** Error if the server cannot listen on a port. The operator must fix it, so the message names the port's option. */

const WORDS: Readonly<Record<string, string>> = {
  EADDRINUSE: "something else listens there; stop it, or give another port",
  EACCES: "this user may not use ports below 1024; choose a higher port",
  EADDRNOTAVAIL: "this machine has no such address; give another --host",
  ENOTFOUND: "no address is known by this name; give another --host",
};

export class CannotListen extends Error {
  readonly code: string | undefined;

  /** `flag` is the name of the port's option without dashes. */
  constructor(flag: string, address: string, { code, message }: NodeJS.ErrnoException) {
    const words = WORDS[code ?? ""];
    const why = words === undefined ? (code ?? message) : `${words} (${code})`;
    super(`cannot listen on ${address} (--${flag}): ${why}`);
    this.code = code;
  }
}
