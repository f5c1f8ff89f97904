/** The keys that sign a server's task ids: those of the key file, or those that its store has, which the file's seal. */
import type { Config } from "./runtime/config.ts";
import type { Log } from "./runtime/logging.ts";
import type { StoredTaskKeys } from "./stores/postgres/task-keys.ts";
import { keyName } from "./tasks/key-file.ts";
import {
  followKeyring,
  followStoredKeys,
  type Keyring,
  type KeyringResult,
  parseKeyring,
  replaceKeys,
} from "./tasks/keyring.ts";

export interface TaskKeys {
  /** The file's, which seal what is secret in a store. */
  readonly sealing: Keyring;
  /** Those that sign, and are kept as they are where they stand, in place. */
  readonly keyring: Keyring;
  /** Takes those of the store, if it has some. */
  adopt(stored: StoredTaskKeys | undefined): void;
  /** Keeps them all as they are where they stand. Gives what ends this. */
  follow(log: Log["log"], onChange: () => void): () => void;
}

/** `sealing`: the file's as they were read. */
export function taskKeysOf(config: Config, sealing: Keyring): TaskKeys {
  const keyring: Keyring = config.taskKeys === "store" ? [...sealing] : sealing;
  let stored: StoredTaskKeys | undefined;
  return {
    sealing,
    keyring,
    adopt: (given) => {
      stored = given;
      const parsed = given && parseKeyring(given.text);
      if (parsed?.kind === "ok") replaceKeys(keyring, parsed.keyring);
    },
    follow: (log, onChange) => {
      const tell = (read: KeyringResult): void => {
        if (read.kind === "invalid") log.error({ problem: read.message }, "the task keys stay as they were");
        else log.info({ keys: read.keyring.map(keyName) }, "the task keys were read again");
        onChange();
      };
      const ends = [followKeyring(config, sealing, tell)];
      if (stored !== undefined) ends.push(followStoredKeys(stored, keyring, tell));
      return () => {
        for (const end of ends) end();
      };
    },
  };
}
