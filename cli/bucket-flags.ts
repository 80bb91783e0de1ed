import type { AccessKeyInput } from '#proto/generated/skein/catalog/v1/AccessKey.ts';
import type { BucketSettingsInput } from '#proto/generated/skein/catalog/v1/BucketSettings.ts';
import type { Flags } from './command.ts';
import { SkeinError } from '#shared/error.ts';
import { readKeyFile } from '#shared/storage/key-file.ts';
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

/** The flags that say how a bucket is reached; null when none is given. The keys come from files: a command line is seen by others. */
export function bucketOf(flags: Flags): BucketSettingsInput | null {
  const settings: Record<string, string> = {};
  for (const name of SETTINGS) {
    const text = flags.text(name);
    if (text !== undefined) settings[name] = text;
  }
  if (flags.has('path-style') && flags.has('no-path-style')) {
    throw new UsageError('--path-style and --no-path-style contradict each other');
  }
  if (flags.has('path-style')) settings['path-style'] = 'true';
  if (flags.has('no-path-style')) settings['path-style'] = 'false';
  for (const name of ['hierarchical', 'allow-container-sas']) {
    if (flags.has(name)) settings[name] = 'true';
    if (flags.has(`no-${name}`)) settings[name] = 'false';
  }
  const [key, engineKey] = [keyOf(flags, 'credentials'), keyOf(flags, 'engine-credentials')];
  if (Object.keys(settings).length === 0 && key === null && engineKey === null) {
    return flags.text('storage') === undefined ? null : { settings };
  }
  return { settings, key, engine_key: engineKey };
}

function keyOf(flags: Flags, flag: string): AccessKeyInput | null {
  const file = flags.text(flag);
  if (file === undefined) return null;
  try {
    const key = readKeyFile(file);
    if (key.kind !== 's3') return { document: JSON.stringify(key) };
    const { accessKeyId, secretAccessKey, sessionToken } = key;
    return { access_key_id: accessKeyId, secret_access_key: secretAccessKey, session_token: sessionToken ?? '' };
  } catch (error) {
    throw new UsageError(`--${flag} ${file}: ${SkeinError.of(error).message}`);
  }
}
