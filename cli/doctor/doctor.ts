import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { printTable } from '../print-table.ts';
import { CHECKS, type Finding } from './checks.ts';

/** `skein doctor`: 0 when nothing failed (a warning is no failure), else 1. */
export async function doctor(loaded: LoadedConfig, json: boolean): Promise<ExitCode> {
  const findings: (Finding & { readonly check: string })[] = [];
  for (const [check, examine] of Object.entries(CHECKS)) {
    const finding = await examine(loaded).catch((error: unknown): Finding => ({
      state: 'failed',
      message: error instanceof Error ? error.message : String(error),
    }));
    findings.push({ check, ...finding });
  }
  const failed = findings.some(({ state }) => state === 'failed');
  if (json) {
    process.stdout.write(`${JSON.stringify({ ok: !failed, checks: findings })}\n`);
  } else {
    const rows = findings.map(({ check, state, message }) => [check, state, message]);
    process.stdout.write(printTable(['check', 'state', 'message'], rows));
  }
  return failed ? EXIT.failed : EXIT.ok;
}
