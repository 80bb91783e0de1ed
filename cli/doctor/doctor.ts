import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import type { Flags } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { printTable } from '../print-table.ts';
import { isOfHosts } from '../status.ts';
import { CHECKS, MACHINE_CHECKS } from './checks.ts';
import type { Finding } from './finding.ts';
import { HOST_CHECKS, reasonOf, servicesOf } from './host-checks.ts';

type Check = readonly [name: string, examine: () => Promise<Finding>];

/**
 * `skein doctor`: 0 when nothing failed (a warning is no failure), else 1. Where etcd is configured and no launcher runs, the machine is a
 * host of a cluster, and what its services need is checked.
 */
export async function doctor(loaded: LoadedConfig, flags: Flags): Promise<ExitCode> {
  const findings: (Finding & { readonly check: string })[] = [];
  for (const [check, examine] of checksOf(loaded, flags)) {
    const finding = await examine().catch((error: unknown): Finding => ({ state: 'failed', message: reasonOf(error) }));
    findings.push({ check, ...finding });
  }
  const isBad = findings.some(({ state }) => state === 'failed');
  if (flags.has('json')) {
    process.stdout.write(`${JSON.stringify({ ok: !isBad, checks: findings })}\n`);
  } else {
    const rows = findings.map(({ check, state, message }) => [check, state, message]);
    process.stdout.write(printTable(['check', 'state', 'message'], rows));
  }
  return isBad ? EXIT.failed : EXIT.ok;
}

function checksOf(loaded: LoadedConfig, flags: Flags): readonly Check[] {
  const named = flags.texts('service');
  const machine = Object.entries(MACHINE_CHECKS).map(([name, examine]): Check => [name, () => examine(loaded)]);
  if (named.length === 0 && !isOfHosts(loaded.config))
    return [...machine, ...Object.entries(CHECKS).map(([name, examine]): Check => [name, () => examine(loaded)])];
  const host = { loaded, services: servicesOf(loaded.config, named) };
  return [...machine, ...Object.entries(HOST_CHECKS).map(([name, examine]): Check => [name, () => examine(host)])];
}
