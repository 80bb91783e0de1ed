import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { SkeinError } from '#shared/error.ts';

/** A long-lived key of a store. */
export type KeyOfFile = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | null;
};

/** A file of keys is smaller. */
const FILE_BYTES_MAX = 65_536;
const MEMBERS = ['access_key_id', 'secret_access_key', 'session_token'] as const;

/**
 * Reads a file of `access_key_id`, `secret_access_key` and perhaps `session_token`, as YAML or JSON.
 * @throws INVALID_REQUEST without the file's name and without anything of its text
 */
export function readKeyFile(file: string): KeyOfFile {
  let value: unknown;
  try {
    const text = readFileSync(file, 'utf8');
    if (text.length > FILE_BYTES_MAX) throw new Error('it is too large');
    value = parse(text);
  } catch (error) {
    throw invalid((error as NodeJS.ErrnoException).code ?? 'it is neither YAML nor JSON');
  }
  if (typeof value !== 'object' || value === null) throw invalid(`expected ${MEMBERS.join(', ')}`);
  const members = new Map<string, unknown>(Object.entries(value));
  const isKnown = ([name, text]: [string, unknown]): boolean =>
    MEMBERS.some((known) => known === name) && typeof text === 'string';
  const [accessKeyId, secretAccessKey, sessionToken] = MEMBERS.map((name) => members.get(name));
  if (![...members].every(isKnown) || typeof accessKeyId !== 'string' || typeof secretAccessKey !== 'string') {
    throw invalid(`expected ${MEMBERS.join(', ')}, each a text`);
  }
  return { accessKeyId, secretAccessKey, sessionToken: typeof sessionToken === 'string' ? sessionToken : null };
}

const invalid = (why: string): SkeinError => new SkeinError('INVALID_REQUEST', why);
