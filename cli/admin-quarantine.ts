import { errorBody, ERRORS, SkeinError, type ErrorCode } from '#shared/error.ts';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { findTarget, mintToken } from './catalog-rpc.ts';
import { doorFetch } from './door-fetch.ts';
import type { Flags } from './command.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { printTable } from './print-table.ts';

/** `skein admin quarantine ...`: statements that the coordinator refuses because one of the same shape harmed a worker. */

type Line = {
  readonly id: string;
  readonly username: string;
  readonly fingerprint: string;
  readonly sql: string;
  readonly reason: string;
  readonly killed_at: string;
  readonly until: string;
};

const HEADER = ['id', 'username', 'fingerprint', 'killed_at', 'until', 'reason', 'sql'] as const;
const SQL_SHOWN = 60;
const TIMEOUT_MS = 15_000;

export async function listQuarantine(loaded: LoadedConfig, flags: Flags): Promise<ExitCode> {
  const response = await call(loaded, flags, 'GET', '');
  const { quarantine } = (await response.json()) as { readonly quarantine: readonly Line[] };
  const rows = quarantine.map((line) => HEADER.map((name) => (name === 'sql' ? oneLine(line.sql) : line[name])));
  process.stdout.write(flags.has('json') ? `${JSON.stringify({ quarantine })}\n` : printTable([...HEADER], rows));
  return EXIT.ok;
}

export async function liftQuarantine(loaded: LoadedConfig, flags: Flags, id: string): Promise<ExitCode> {
  await call(loaded, flags, 'DELETE', `/${encodeURIComponent(id)}`);
  process.stdout.write(`${JSON.stringify({ quarantine: id, lifted: true })}\n`);
  return EXIT.ok;
}

async function call(loaded: LoadedConfig, flags: Flags, method: string, path: string): Promise<Response> {
  const target = findTarget(loaded);
  const token = await mintToken(target, { tenant: flags.text('tenant'), user: flags.text('user') });
  const request = { method, headers: { authorization: `Bearer ${token}` }, signal: AbortSignal.timeout(TIMEOUT_MS) };
  let response: Response;
  try {
    response = await doorFetch(`${target.queryUrl}/api/quarantine${path}`, target.trust, request);
  } catch (cause) {
    throw new SkeinError('NO_CLUSTER', `no coordinator answers at ${target.queryUrl}`, { cause });
  }
  if (response.ok) return response;
  const { error, message } = (await response.json()) as ReturnType<typeof errorBody>;
  throw new SkeinError(Object.hasOwn(ERRORS, error) ? error : ('INTERNAL_ERROR' satisfies ErrorCode), message);
}

const oneLine = (sql: string): string => sql.replaceAll(/\s+/g, ' ').slice(0, SQL_SHOWN);
