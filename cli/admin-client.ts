import type { ClientSecret } from '#proto/generated/skein/catalog/v1/ClientSecret.ts';
import { parseDuration } from '#shared/config/parse-setting.ts';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { SkeinError } from '#shared/error.ts';
import { callCatalog, findTarget, type Target } from './catalog-rpc.ts';
import type { Flags } from './command.ts';
import { EXIT, UsageError, type ExitCode } from './exit-code.ts';
import { printTable } from './print-table.ts';

/** `skein admin client ...`: service accounts that sign in with a client_id and a client_secret. */

export async function createClient(loaded: LoadedConfig, flags: Flags, name: string): Promise<ExitCode> {
  const target = findTarget(loaded);
  const scope = (flags.text('scope') ?? '').split(/\s+/).filter((word) => word !== '');
  if (flags.has('scope') && scope.length === 0) throw new UsageError('--scope names no scope');
  const request = { tenant: tenantOf(target, flags), name, roles: flags.texts('role'), scope };
  return printSecret(request, await callCatalog(target, 'CreateClient', request));
}

export async function rotateClient(loaded: LoadedConfig, flags: Flags, name: string): Promise<ExitCode> {
  const target = findTarget(loaded);
  const request = { tenant: tenantOf(target, flags), name, overlap_ms: String(overlapOf(flags.text('overlap'))) };
  return printSecret(request, await callCatalog(target, 'RotateClient', request));
}

export async function listClients(loaded: LoadedConfig, flags: Flags): Promise<ExitCode> {
  const target = findTarget(loaded);
  const { clients } = await callCatalog(target, 'ListClients', {
    tenant: tenantOf(target, flags),
  });
  const rows = clients.map((client) => ({
    client: client.name,
    client_id: client.client_id,
    status: client.status,
    roles: client.roles,
    scope: client.scope,
    created_at: timeOf(client.created_at_ms),
    rotated_at: timeOf(client.rotated_at_ms),
    old_secret_until: timeOf(client.previous_until_ms),
  }));
  process.stdout.write(flags.has('json') ? `${JSON.stringify({ clients: rows })}\n` : tableOf(rows));
  return EXIT.ok;
}

type Row = Readonly<Record<string, string | readonly string[] | null>>;

function tableOf(rows: readonly Row[]): string {
  const header = ['client', 'client_id', 'status', 'roles', 'scope', 'created_at', 'rotated_at', 'old_secret_until'];
  const cell = (value: Row[string] | undefined): string =>
    typeof value === 'string' ? value : (value ?? []).join(' ');
  return printTable(
    header,
    rows.map((row) => header.map((name) => cell(row[name]) || '-')),
  );
}

export async function dropClient(loaded: LoadedConfig, flags: Flags, name: string): Promise<ExitCode> {
  const target = findTarget(loaded);
  const tenant = tenantOf(target, flags);
  await callCatalog(target, 'DropClient', { tenant, name });
  process.stdout.write(`${JSON.stringify({ tenant, client: name, dropped: true })}\n`);
  return EXIT.ok;
}

const tenantOf = (target: Target, flags: Flags): string => flags.text('tenant') ?? target.tenant;

/** ISO 8601; null for 0. */
const timeOf = (ms: string): string | null => (ms === '0' ? null : new Date(Number(ms)).toISOString());

function printSecret({ tenant, name }: { tenant: string; name: string }, made: ClientSecret): ExitCode {
  const { client_id, client_secret } = made;
  process.stdout.write(`${JSON.stringify({ tenant, client: name, client_id, client_secret })}\n`);
  return EXIT.ok;
}

function overlapOf(text: string | undefined): number {
  if (text === undefined) return 0;
  try {
    return parseDuration(text);
  } catch (error) {
    throw new UsageError(`--overlap: ${SkeinError.of(error).message}`);
  }
}
