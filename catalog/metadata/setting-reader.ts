import { SkeinError } from '#shared/error.ts';

/** Settings as requests give them: by the names of the flags. */
export type GivenSettings = Readonly<Partial<Record<string, string>>>;

/**
 * Reads the settings of a request over those that a catalog has. An empty text takes a setting back.
 * @param names the settings that this kind of store has @throws INVALID_REQUEST for others
 */
export function settingReader<Name extends string>(
  given: GivenSettings,
  names: readonly Name[],
): (name: Name, otherwise: string | null | undefined) => string | null {
  const unknown = Object.keys(given).filter((name) => !names.some((known) => known === name));
  if (unknown.length > 0) throw invalidSetting(`unknown settings: ${unknown.join(', ')}`);
  return (name, otherwise) => {
    const value = given[name];
    if (value === undefined) return otherwise ?? null;
    return value === '' ? null : value;
  };
}

export function readFlag(name: string, text: string | null): boolean {
  if (text === 'true') return true;
  if (text === 'false' || text === null) return false;
  throw invalidSetting(`${name} is true or false`);
}

/** Without what follows the host. */
export function addressOf(name: string, text: string | null): string | null {
  if (text === null) return null;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isAddress =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    url.search === '';
  if (!isAddress || url.pathname !== '/') throw invalidSetting(`${name} is no address such as https://s3.example.com`);
  return `${url.protocol}//${url.host}`;
}

export const invalidSetting = (why: string): SkeinError =>
  new SkeinError('INVALID_REQUEST', `the storage of the catalog: ${why}`);
