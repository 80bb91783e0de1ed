import { argon2Sync, randomBytes } from 'node:crypto';
import type { TestCatalog } from './catalog.ts';

const HASH_BYTES = 32;
/** The least that Argon2id takes. */
const COST = { memory: 8, passes: 1, parallelism: 1 };

const text = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '');

/** A password's PHC string, as the catalog stores it, of the least cost. */
function cheapHash(password: string): string {
  const nonce = randomBytes(16);
  const made = argon2Sync('argon2id', { message: password, nonce, tagLength: HASH_BYTES, ...COST });
  return `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=${COST.parallelism}$${text(nonce)}$${text(made)}`;
}

/**
 * Stores the password that users have in a form that is compared in a thousandth of the time: the catalog compares by the cost that a stored
 * hash names. For suites that sign in often, and do not look at the hash. A password that is set later costs what it always costs.
 */
export async function cheapen(
  catalog: Pick<TestCatalog, 'sql'>,
  password: string,
  ...users: readonly string[]
): Promise<void> {
  const names = users.map((name) => `'${name}'`).join(', ');
  const changed = await catalog.sql(
    `update catalog.principal set password_hash = '${cheapHash(password)}'
     where username in (${names}) and password_hash is not null returning id`,
  );
  if (changed.length !== users.length) throw new Error(`${names}: ${changed.length} of them have a password`);
}
