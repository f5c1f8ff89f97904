/**
 * Loads the keys that sign a server's task ids. They come from the key file, or from the store, where they are
 * encrypted with the file's keys.
 */
import type { Config } from "../runtime/config.ts";
import type { Log } from "../runtime/logging.ts";
import type { StoredTaskKeys } from "../stores/postgres/task-keys.ts";
import { keyName } from "./rotate-keys.ts";
import {
  followKeyring,
  followStoredKeys,
  type Keyring,
  type KeyringResult,
  parseKeyring,
  replaceKeys,
} from "./keyring.ts";

type SealBy = (keys: Keyring) => Promise<void>;

/** Delay before another attempt to encrypt the store's secrets with a new key, in milliseconds. */
const SEAL_AGAIN_MS = 1_000;

/**
 * Returns a function that encrypts the store's secrets also with the first of the given keys, and retries until that
 * succeeds. Only then may the operator remove old keys from the key file.
 */
function sealer(sealBy: SealBy | undefined, log: Log["log"]) {
  let ended = false;
  const seal = async (keys: Keyring): Promise<void> => {
    if (sealBy === undefined || ended) return;
    const key = keyName(keys[0]);
    try {
      await sealBy(keys);
      log.info({ key }, "the store's secrets are now encrypted with this key too");
    } catch (err) {
      log.error(
        { err, key },
        "cannot encrypt the store's secrets with the new key; trying again. Do not retire another key until it succeeds",
      );
      setTimeout(() => void seal(keys), SEAL_AGAIN_MS).unref();
    }
  };
  return { seal: (keys: Keyring): void => void seal(keys), end: (): void => void (ended = true) };
}

/**
 * Returns the keys with which a server signs task ids. `sealing` are the keys of the key file, which encrypt the task
 * keys if they are in the store.
 */
export function taskKeysOf(config: Config, sealing: Keyring) {
  const keyring: Keyring = config.taskKeys === "store" ? [...sealing] : sealing;
  let stored: StoredTaskKeys | undefined;
  let sealBy: SealBy | undefined;
  return {
    /** Keys of the key file. If the store has task keys, these encrypt them. */
    sealing,
    /** Keys that sign task ids. They are updated in place. */
    keyring,
    /**
     * Starts to use task keys from the database, if it has some. `by` encrypts the database's other secrets with the
     * first key of the key file.
     */
    adopt: (given: StoredTaskKeys | undefined, by: SealBy | undefined): void => {
      [stored, sealBy] = [given, by];
      const parsed = given && parseKeyring(given.text);
      if (parsed?.kind === "ok") replaceKeys(keyring, parsed.keyring);
    },
    /** Updates the keys whenever the file or the store changes. The returned function stops that. */
    follow: (log: Log["log"], onChange: () => void): (() => void) => {
      const tell = (read: KeyringResult): void => {
        if (read.kind === "invalid")
          log.error(
            { problem: read.message },
            "cannot read the task keys: the earlier ones stay in use; correct the file or the store",
          );
        else log.info({ keys: read.keyring.map(keyName) }, "the task keys were read again");
        onChange();
      };
      const { seal, end } = sealer(sealBy, log);
      const tellFile = (read: KeyringResult): void => {
        tell(read);
        // The old keys are passed as well, because they are needed to decrypt the store's secrets.
        if (read.kind === "ok") seal([...read.keyring, ...sealing]);
      };
      const ends = [end, followKeyring(config, sealing, tellFile)];
      if (stored !== undefined) ends.push(followStoredKeys(stored, keyring, tell));
      return () => {
        for (const end of ends) end();
      };
    },
  };
}
