import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { callCatalog, findTarget } from './catalog-rpc.ts';
import type { Flags } from './command.ts';
import { EXIT, UsageError, type ExitCode } from './exit-code.ts';

/** The operator's commands, over the catalog's internal gRPC. */

export async function createTenant(loaded: LoadedConfig, flags: Flags, name: string): Promise<ExitCode> {
  const user = flags.text('user') ?? 'admin';
  const file = flags.text('password-file');
  const password = file === undefined ? randomBytes(18).toString('base64url') : passwordOf(file);
  await callCatalog(findTarget(loaded), 'CreateTenant', { name, admin_user: user, admin_password: password });
  const generated = file === undefined ? { password } : {};
  process.stdout.write(`${JSON.stringify({ tenant: name, user, ...generated })}\n`);
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

export async function listTenants(loaded: LoadedConfig, json: boolean): Promise<ExitCode> {
  const { names } = await callCatalog<{ names: readonly string[] }>(findTarget(loaded), 'ListTenants', {});
  process.stdout.write(json ? `${JSON.stringify({ tenants: names })}\n` : names.map((name) => `${name}\n`).join(''));
  return EXIT.ok;
}

export async function createCatalog(loaded: LoadedConfig, flags: Flags, name: string): Promise<ExitCode> {
  const target = findTarget(loaded);
  const tenant = flags.text('tenant') ?? target.tenant;
  await callCatalog(target, 'CreateCatalog', { tenant, name, location: flags.text('location') ?? '' });
  process.stdout.write(`${JSON.stringify({ tenant, catalog: name })}\n`);
  return EXIT.ok;
}
