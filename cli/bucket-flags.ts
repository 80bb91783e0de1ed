import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { AccessKeyInput } from '#proto/generated/skein/catalog/v1/AccessKey.ts';
import type { BucketSettingsInput } from '#proto/generated/skein/catalog/v1/BucketSettings.ts';
import type { Flags } from './command.ts';
import { UsageError } from './exit-code.ts';

const SETTINGS = [
  'flavor',
  'region',
  'endpoint',
  'internal-endpoint',
  'sts-endpoint',
  'role-arn',
  'external-id',
] as const;
/** A file of keys is smaller. */
const FILE_BYTES_MAX = 65_536;

/** The flags that say how a bucket is reached; null when none is given. The keys come from files: a command line is seen by others. */
export function bucketOf(flags: Flags): BucketSettingsInput | null {
  const settings: Record<string, string> = {};
  for (const name of SETTINGS) {
    const text = flags.text(name);
    if (text !== undefined) settings[name] = text;
  }
  if (flags.has('path-style')) settings['path-style'] = 'true';
  const [key, engineKey] = [keyOf(flags, 'credentials'), keyOf(flags, 'engine-credentials')];
  if (Object.keys(settings).length === 0 && key === null && engineKey === null) {
    return flags.text('storage') === undefined ? null : { settings };
  }
  return { settings, key, engine_key: engineKey };
}

function keyOf(flags: Flags, flag: string): AccessKeyInput | null {
  const file = flags.text(flag);
  return file === undefined ? null : readKeyFile(file, `--${flag} ${file}`);
}

const MEMBERS = ['access_key_id', 'secret_access_key', 'session_token'] as const;

/** Reads a file of `access_key_id`, `secret_access_key` and perhaps `session_token`. No error shows its text. */
function readKeyFile(file: string, title: string): AccessKeyInput {
  let value: unknown;
  try {
    const text = readFileSync(file, 'utf8');
    if (text.length > FILE_BYTES_MAX) throw new Error('it is too large');
    value = parse(text);
  } catch (error) {
    throw new UsageError(`${title}: ${(error as NodeJS.ErrnoException).code ?? 'it is neither YAML nor JSON'}`);
  }
  if (typeof value !== 'object' || value === null) throw new UsageError(`${title}: expected ${MEMBERS.join(', ')}`);
  const members = new Map<string, unknown>(Object.entries(value));
  const isKey =
    [...members].every(([name, text]) => MEMBERS.some((known) => known === name) && typeof text === 'string') &&
    members.has('access_key_id') &&
    members.has('secret_access_key');
  if (!isKey) throw new UsageError(`${title}: expected ${MEMBERS.join(', ')}, each a text`);
  const at = (name: (typeof MEMBERS)[number]): string => {
    const text = members.get(name);
    return typeof text === 'string' ? text : '';
  };
  return {
    access_key_id: at('access_key_id'),
    secret_access_key: at('secret_access_key'),
    session_token: at('session_token'),
  };
}
