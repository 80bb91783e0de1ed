import { argon2Sync, randomBytes, timingSafeEqual } from 'node:crypto';
import { setPriority } from 'node:os';

/**
 * The program of a thread that hashes passwords. A hash takes a core for a fifth of a second, so the thread gives way to the main thread,
 * which serves every request of the catalog. A lower priority than this would let busy workers of the same machine keep people from signing
 * in.
 *
 * Node's Argon2id and not the package `argon2` (`password.ts`, the first user's): the package hashes in libuv's pool alone, whichever thread
 * asks. The pool has the priority of the process, and the catalog's reads of files wait for its threads. Beside two hashes at once, on two
 * cores with other work, a loop of computing and reading a file on the main thread went through 3,390 turns with this and 2,310 with the package
 * (four runs of each in turns; 3,980 without hashes). And a process whose thread ends while the package hashes in it aborts (0.45.1).
 */
const NICENESS = 5;

// On Linux a priority applies to the calling thread, elsewhere to the process.
if (process.platform === 'linux') setPriority(0, NICENESS);

/** Service specification, Authentication 5: Argon2id with t=3, m=64 MiB, p=1. */
const COST = { passes: 3, memory: 64 * 1024, parallelism: 1 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const PHC = /^\$argon2id\$v=19\$([a-z0-9=,]+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

const text = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '');

/** The PHC string to store. */
export function hashInThread(password: string): string {
  const nonce = randomBytes(SALT_BYTES);
  const made = argon2Sync('argon2id', { message: password, nonce, tagLength: HASH_BYTES, ...COST });
  return `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=${COST.parallelism}$${text(nonce)}$${text(made)}`;
}

/** Whether a password is the one of a PHC string. @throws when the string is of no Argon2id */
export function isHashOf({ password, hash }: { readonly password: string; readonly hash: string }): boolean {
  const [, settings = '', salt = '', tag = ''] = PHC.exec(hash) ?? [];
  if (tag === '') throw new Error('invariant: a stored hash is a PHC string of Argon2id');
  const cost = Object.fromEntries(settings.split(',').map((one) => one.split('=')));
  const stored = Buffer.from(tag, 'base64');
  const made = argon2Sync('argon2id', {
    message: password,
    nonce: Buffer.from(salt, 'base64'),
    tagLength: stored.length,
    memory: Number(cost['m']),
    passes: Number(cost['t']),
    parallelism: Number(cost['p']),
  });
  return timingSafeEqual(made, stored);
}
