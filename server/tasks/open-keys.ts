/** The keys that sign a server's task ids: those of the key file, or those that its store has, which the file's seal. */
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

/** Between attempts to seal, while the store is away. */
const SEAL_AGAIN_MS = 1_000;

/** Seals what is secret in a store by new keys, until that is done: the old ones may be retired after that. */
function sealer(sealBy: SealBy | undefined, log: Log["log"]) {
  let ended = false;
  const seal = async (keys: Keyring): Promise<void> => {
    if (sealBy === undefined || ended) return;
    const key = keyName(keys[0]);
    try {
      await sealBy(keys);
      log.info({ key }, "what is secret in the store is sealed by this key too");
    } catch (err) {
      log.error({ err, key }, "what is secret in the store is not sealed by this key yet: retire no other");
      setTimeout(() => void seal(keys), SEAL_AGAIN_MS).unref();
    }
  };
  return { seal: (keys: Keyring): void => void seal(keys), end: (): void => void (ended = true) };
}

/** `sealing`: the file's as they were read. */
export function taskKeysOf(config: Config, sealing: Keyring) {
  const keyring: Keyring = config.taskKeys === "store" ? [...sealing] : sealing;
  let stored: StoredTaskKeys | undefined;
  let sealBy: SealBy | undefined;
  return {
    /** The file's keys, which seal what is secret in a store. */
    sealing,
    /** The keys that sign, and are kept as they are where they stand, in place. */
    keyring,
    /** Takes those of the store, if it has some; `by`: seals what is secret in it by the first of some keys too. */
    adopt: (given: StoredTaskKeys | undefined, by: SealBy | undefined): void => {
      [stored, sealBy] = [given, by];
      const parsed = given && parseKeyring(given.text);
      if (parsed?.kind === "ok") replaceKeys(keyring, parsed.keyring);
    },
    /** Keeps them all as they are where they stand. Gives what ends this. */
    follow: (log: Log["log"], onChange: () => void): (() => void) => {
      const tell = (read: KeyringResult): void => {
        if (read.kind === "invalid") log.error({ problem: read.message }, "the task keys stay as they were");
        else log.info({ keys: read.keyring.map(keyName) }, "the task keys were read again");
        onChange();
      };
      const { seal, end } = sealer(sealBy, log);
      const tellFile = (read: KeyringResult): void => {
        tell(read);
        // With those that it had, for by them it is sealed now.
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
