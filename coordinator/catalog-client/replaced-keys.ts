import type { StoreCredential } from '#shared/storage/credential.ts';

const replaced = new WeakSet<StoreCredential>();

/** The catalog has given another key in place of this one, which ends soon or was refused by the store. */
export const keyIsReplaced = (key: StoreCredential): void => void replaced.add(key);

/** Whether another key has come in place of this one: no statement begins with it any more. */
export const isReplacedKey = (key: StoreCredential): boolean => replaced.has(key);
