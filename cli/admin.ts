import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseDuration } from '#shared/config/parse-setting.ts';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { MFA_REQUIRED } from '#shared/config/mfa-required.ts';
import { SkeinError } from '#shared/error.ts';
import { bucketOf } from './bucket-flags.ts';
import { callCatalog, findTarget } from './catalog-rpc.ts';
import type { Flags } from './command.ts';
import { EXIT, UsageError, type ExitCode } from './exit-code.ts';

/** The operator's commands, over the catalog's internal gRPC. */

export async function createTenant(loaded: LoadedConfig, flags: Flags, name: string): Promise<ExitCode> {
  const user = flags.text('user') ?? 'admin';
  const email = flags.text('email') ?? '';
  const file = flags.text('password-file');
  const password = file === undefined ? randomBytes(18).toString('base64url') : passwordOf(file);
  await callCatalog(findTarget(loaded), 'CreateTenant', {
    name,
    admin_user: user,
    admin_password: password,
    admin_email: email,
  });
  const generated = file === undefined ? { password } : {};
  process.stdout.write(`${JSON.stringify({ tenant: name, user, ...generated })}\n`);
  return EXIT.ok;
}

/** Flags of the rules for passwords, and the fields of the request. */
const PASSWORD_RULES = {
  'password-min-length': 'password_min_length',
  'password-classes': 'password_classes',
  'password-history': 'password_history',
} as const;

export async function alterTenant(loaded: LoadedConfig, flags: Flags, name: string): Promise<ExitCode> {
  const rules = { password_min_length: -1, password_classes: -1, password_history: -1 };
  for (const [flag, field] of Object.entries(PASSWORD_RULES)) {
    const text = flags.text(flag);
    if (text === undefined) continue;
    if (!/^\d{1,4}$/.test(text)) throw new UsageError(`--${flag}: expected a number`);
    rules[field] = Number(text);
  }
  const mfa = flags.text('mfa') ?? '';
  if (mfa !== '' && !MFA_REQUIRED.some((who) => who === mfa)) {
    throw new UsageError(`--mfa: expected ${MFA_REQUIRED.join(' or ')}`);
  }
  if (mfa === '' && Object.values(rules).every((rule) => rule === -1)) {
    throw new UsageError('expected a rule to change');
  }
  await callCatalog(findTarget(loaded), 'AlterTenant', { name, ...rules, mfa });
  process.stdout.write(`${JSON.stringify({ tenant: name })}\n`);
  return EXIT.ok;
}

function passwordOf(file: string): string {
  let text: string;
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new UsageError(`--password-file ${file}: ${(error as NodeJS.ErrnoException).code ?? 'cannot be read'}`);
  }
  const password = text.replace(/\r?\n$/, '');
  if (password === '') throw new UsageError('--password-file: the password is empty');
  return password;
}

/** Helps, as an operator, a user who cannot sign in. The password comes from standard input, and must be changed. */
export async function rescueUser(
  loaded: LoadedConfig,
  flags: Flags,
  name: string,
  what: 'reset_mfa' | 'unlock' | 'set_password',
): Promise<ExitCode> {
  const target = findTarget(loaded);
  const tenant = flags.text('tenant') ?? target.tenant;
  const password = what === 'set_password' ? passwordOf('-') : '';
  await callCatalog(target, 'RescueUser', { tenant, user: name, what, password });
  process.stdout.write(`${JSON.stringify({ tenant, user: name })}\n`);
  return EXIT.ok;
}

export async function listTenants(loaded: LoadedConfig, json: boolean): Promise<ExitCode> {
  const { names } = await callCatalog(findTarget(loaded), 'ListTenants', {});
  process.stdout.write(json ? `${JSON.stringify({ tenants: names })}\n` : names.map((name) => `${name}\n`).join(''));
  return EXIT.ok;
}

export async function dropTenant(loaded: LoadedConfig, name: string): Promise<ExitCode> {
  await callCatalog(findTarget(loaded), 'DropTenant', { name });
  process.stdout.write(`${JSON.stringify({ tenant: name })}\n`);
  return EXIT.ok;
}

export async function createCatalog(loaded: LoadedConfig, flags: Flags, name: string): Promise<ExitCode> {
  const target = findTarget(loaded);
  const tenant = flags.text('tenant') ?? target.tenant;
  await callCatalog(target, 'CreateCatalog', {
    tenant,
    name,
    location: locationOf(flags),
    allow_roots: flags.texts('allow-root'),
    undrop_window_ms: windowOf(flags) ?? '0',
    bucket: bucketOf(flags),
  });
  process.stdout.write(`${JSON.stringify({ tenant, catalog: name })}\n`);
  return EXIT.ok;
}

export async function alterCatalog(loaded: LoadedConfig, flags: Flags, name: string): Promise<ExitCode> {
  await callCatalog(findTarget(loaded), 'AlterCatalog', {
    name,
    allow_roots: flags.texts('allow-root'),
    disallow_roots: flags.texts('disallow-root'),
    undrop_window_ms: windowOf(flags) ?? '-1',
    bucket: bucketOf(flags),
  });
  process.stdout.write(`${JSON.stringify({ catalog: name })}\n`);
  return EXIT.ok;
}

function locationOf(flags: Flags): string {
  const [location, storage] = [flags.text('location'), flags.text('storage')];
  if (location !== undefined && storage !== undefined) throw new UsageError('--storage and --location say the same');
  if (storage !== undefined && !/^(?:s3[an]?|gs|abfss?|wasbs?):/.test(storage)) {
    throw new UsageError(
      '--storage: expected s3://bucket/prefix, gs://bucket/prefix or abfss://container@account.dfs.core.windows.net/prefix',
    );
  }
  return storage ?? location ?? '';
}

/** Milliseconds; undefined when the flag is not given. */
function windowOf(flags: Flags): string | undefined {
  const text = flags.text('undrop-window');
  try {
    return text === undefined ? undefined : String(parseDuration(text));
  } catch (error) {
    throw new UsageError(`--undrop-window: ${SkeinError.of(error).message}`);
  }
}

export async function dropCatalog(loaded: LoadedConfig, name: string): Promise<ExitCode> {
  await callCatalog(findTarget(loaded), 'DropCatalog', { name });
  process.stdout.write(`${JSON.stringify({ catalog: name })}\n`);
  return EXIT.ok;
}

/** Prints a line for each check of a catalog's bucket. */
export async function checkCatalog(loaded: LoadedConfig, name: string): Promise<ExitCode> {
  const { checks } = await callCatalog(findTarget(loaded), 'CheckCatalog', { name });
  for (const check of checks) {
    process.stdout.write(
      check.problem === '' ? `ok      ${check.name}\n` : `FAILED  ${check.name}: ${check.problem}\n`,
    );
  }
  return checks.every(({ problem }) => problem === '') ? EXIT.ok : EXIT.failed;
}

/** The catalogs of one tenant, or of all. */
export async function listCatalogs(loaded: LoadedConfig, flags: Flags): Promise<ExitCode> {
  const request = { tenant: flags.text('tenant') ?? '' };
  const { catalogs } = await callCatalog(findTarget(loaded), 'DescribeCatalogs', request);
  const rows = catalogs.map(({ name, tenant, roots, undrop_window_ms: windowMs, bucket }) => ({
    catalog: name,
    tenant,
    location: roots[0] ?? '',
    allowed_roots: roots.slice(1),
    undrop_window_seconds: Number(windowMs) / 1_000,
    ...(Object.keys(bucket).length === 0 ? {} : { bucket }),
  }));
  const line = (row: (typeof rows)[number]): string =>
    [row.catalog, row.tenant, row.location, `${row.undrop_window_seconds}s`, ...row.allowed_roots].join('\t');
  process.stdout.write(
    flags.has('json') ? `${JSON.stringify({ catalogs: rows })}\n` : rows.map((row) => `${line(row)}\n`).join(''),
  );
  return EXIT.ok;
}
