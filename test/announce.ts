import { parseArgs } from 'node:util';
import { PARTS } from './parts.ts';
import { CI_SUITES } from './support/ci-suites.ts';
import { machineSlowness, REFERENCE_MINUTES } from './support/run/machine-speed.ts';
import { missingPeers, type MissingPeer } from './support/peers.ts';

/**
 * Prints what `npm test` is about to run and what it leaves out. For `.ci/run`: with `--every-peer` it exits 1 when this machine lacks a
 * program that suites run against (without, those suites are left out and named); `--packages` prints Debian's packages that bring what is
 * missing, `--parts` the names of the parts, and nothing else.
 */
function main(args: readonly string[]): number {
  const option = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({ args: [...args], options: { 'every-peer': option, packages: option, parts: option } });
  const missing = missingPeers();
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  if (values.packages) say(missing.flatMap(({ peer }) => peer.packages).join(' '));
  else if (values.parts) say(PARTS.map(({ name }) => name).join('\n'));
  else announce(missing, say);
  return values['every-peer'] && missing.length > 0 ? 1 : 0;
}

function announce(missing: readonly MissingPeer[], say: (line: string) => void): void {
  const slowness = machineSlowness();
  say(
    `npm test will take about ${Math.ceil(REFERENCE_MINUTES * slowness)} minutes here, by what this machine does now.`,
  );
  say(
    'npm test runs the checks (format, lint, types, unused code), unit and plan tests, system tests on real servers (several files at',
  );
  say('once), and then, each alone, the suites that are bound by time. It leaves to .ci/run (npm run test:ci):');
  for (const suites of CI_SUITES) say(`  ${suites}`);
  say('and to .ci/run --full these named parts:');
  for (const { name, what } of PARTS) say(`  ${name.padEnd(14)} ${what}`);
  if (process.getuid?.() !== 0) {
    say('Not root: the chaos suite has no worker in a network of its own, and no warehouse is on a full file system.');
  }
  for (const { peer, suites } of missing) {
    say(`No ${peer.name} on this machine (Debian: ${peer.packages.join(', ')}); left out: ${suites.join(' ')}`);
  }
}

process.exitCode = main(process.argv.slice(2));
