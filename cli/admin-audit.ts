import { once } from 'node:events';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { callCatalog, findTarget } from './catalog-rpc.ts';
import type { Flags } from './command.ts';
import { EXIT, UsageError, type ExitCode } from './exit-code.ts';

/** `skein admin audit export`: the rows of a tenant's audit log as JSON lines, the oldest first. */
export async function exportAudit(loaded: LoadedConfig, flags: Flags): Promise<ExitCode> {
  const target = findTarget(loaded);
  const tenant = flags.text('tenant') ?? target.tenant;
  const sinceMs = String(timeOf(flags.text('since')));
  for (let after = ''; ;) {
    const { rows, next } = await callCatalog(target, 'ExportAuditLog', { tenant, since_ms: sinceMs, after });
    const hasRoom = process.stdout.write(rows.map((row) => `${row}\n`).join(''));
    if (next === '') return EXIT.ok;
    if (!hasRoom) await once(process.stdout, 'drain');
    after = next;
  }
}

/** Milliseconds since 1970. */
function timeOf(text = '1970-01-01'): number {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new UsageError('--since: expected a time such as 2026-01-31 or 2026-01-31T12:00:00Z');
  return ms;
}
