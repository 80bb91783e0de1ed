import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CI_SUITES } from './ci-suites.ts';
import { missingPeers } from './peers.ts';
import { judgeProofs, ranTests, requirementsOf } from './proofs.ts';

const ROOT = join(import.meta.dirname, '../..');

/**
 * `node test/support/check-proofs.ts [--without-ci] REPORT...`, after the tests: every proof of docs/spec-coverage.md is exactly one
 * test of these JSON reports of vitest, and passed. Exits 1 when one is not. A report that is not there counts as one without tests.
 */
function main(args: readonly string[]): number {
  const options = { 'without-ci': { type: 'boolean', default: false } } as const;
  const { values, positionals: paths } = parseArgs({ args: [...args], options, allowPositionals: true });
  const leftToCi = values['without-ci'] ? CI_SUITES.flatMap((suites) => globSync(suites, { cwd: ROOT })) : [];
  const requirements = requirementsOf(readFileSync(join(ROOT, 'docs/spec-coverage.md'), 'utf8'));
  const reports = paths.filter((path) => existsSync(path));
  const ran = reports.flatMap((path) => ranTests(readFileSync(path, 'utf8'), ROOT));
  const { wrong, held, unchecked } = judgeProofs(
    requirements.flatMap(({ proofs }) => proofs),
    ran,
    new Set([...leftToCi, ...missingPeers().flatMap(({ suites }) => suites)]),
  );
  const notYet = requirements.filter(({ proofs }) => proofs.length === 0).length;
  const lines = [
    `docs/spec-coverage.md: ${requirements.length} requirements, ${notYet} not yet; ${held.length} proofs ran and passed`,
    ...paths.filter((path) => !reports.includes(path)).map((path) => `no report ${path}`),
    ...unchecked.map(({ id, path, name }) => `not checked, its suite was left out: ${id}: ${path} › ${name}`),
    ...wrong,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  return wrong.length === 0 ? 0 : 1;
}

process.exitCode = main(process.argv.slice(2));
