import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CI_SUITES, FULL_SUITES } from './ci-suites.ts';
import { missingPeers } from './peers.ts';
import { judgeProofs, ranTests, requirementsOf, type Requirement } from './proofs.ts';

const ROOT = join(import.meta.dirname, '../..');

/**
 * `node test/support/check-proofs.ts [--without-ci] REPORT...`, after the tests: every proof of docs/spec-coverage.md is exactly one
 * test of these JSON reports of vitest, and passed, and every requirement with proofs has one that was checked. Proofs that only parts of
 * `.ci/run --full` run are checked when the reports have their suites. Exits 1 when one is not. A report that is not there counts as one
 * without tests.
 */
function main(args: readonly string[]): number {
  const options = { 'without-ci': { type: 'boolean', default: false } } as const;
  const { values, positionals: paths } = parseArgs({ args: [...args], options, allowPositionals: true });
  const filesOf = (suites: readonly string[]): readonly string[] =>
    suites.flatMap((one) => globSync(one, { cwd: ROOT }));
  const requirements = requirementsOf(readFileSync(join(ROOT, 'docs/spec-coverage.md'), 'utf8'));
  const reports = paths.filter((path) => existsSync(path));
  const ran = reports.flatMap((path) => ranTests(readFileSync(path, 'utf8'), ROOT));
  const ranFiles = new Set(ran.map(({ path }) => path));
  const leftToFull = filesOf(FULL_SUITES).filter((path) => !ranFiles.has(path));
  const leftToCi = values['without-ci'] ? filesOf(CI_SUITES) : [];
  const { wrong, held, unchecked } = judgeProofs(
    requirements.flatMap(({ proofs }) => proofs),
    ran,
    new Set([...leftToFull, ...leftToCi, ...missingPeers().flatMap(({ suites }) => suites)]),
  );
  const isUnchecked = ({ proofs }: Requirement): boolean =>
    proofs.length > 0 && proofs.every((proof) => unchecked.includes(proof));
  const unproven = values['without-ci'] ? [] : requirements.filter(isUnchecked);
  const notYet = requirements.filter(({ proofs }) => proofs.length === 0).length;
  const lines = [
    `docs/spec-coverage.md: ${requirements.length} requirements, ${notYet} not yet; ${held.length} proofs ran and passed`,
    ...paths.filter((path) => !reports.includes(path)).map((path) => `no report ${path}`),
    ...unchecked.map(({ id, path, name }) => `not checked, its suite was left out: ${id}: ${path} › ${name}`),
    ...unproven.map(({ id }) => `${id}: only parts of .ci/run --full check its proofs`),
    ...wrong,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  return wrong.length + unproven.length === 0 ? 0 : 1;
}

process.exitCode = main(process.argv.slice(2));
