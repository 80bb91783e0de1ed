import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '#shared/config/config-schema.ts';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { SkeinError } from '#shared/error.ts';
import { parseSecrets } from '#shared/keyring.ts';
import { newSecret, writeSecrets } from '#shared/secret-file.ts';
import type { Flags } from '../command.ts';
import { EXIT, UsageError, type ExitCode } from '../exit-code.ts';
import { ownSecretFile } from '../operator-security.ts';

/** Number of polling intervals after which every process of this machine, even a busy one, has reread the file. */
const INTERVALS_TO_HEAR = 3;

/**
 * The steps of a rotation, each a change of the list of secrets (the first is used, all are accepted). Every process must reread the list
 * between two steps, so that no process receives a secret that it does not accept yet.
 */
export const ROTATION_STEPS = {
  /** The new secret is accepted, but not used yet. */
  add: ([current, ...others], fresh) => [current, fresh, ...others],
  /** The new secret is used; the previous one is still accepted, because tickets of running queries are signed with it. */
  use: ([current, fresh, ...others]) => (fresh === undefined ? [current] : [fresh, current, ...others]),
  /** Only the secret in use is kept. */
  drop: ([current]) => [current],
} as const satisfies Record<string, (secrets: Secrets, fresh: string) => Secrets>;

type Secrets = readonly [string, ...string[]];
type Step = keyof typeof ROTATION_STEPS;

/**
 * `skein cluster rotate-secret`: performs the whole rotation on one machine; with `--step`, one step of it, for a cluster whose machines
 * each have a copy of the file. The previous secret stays accepted until the next rotation, or `--step drop`.
 */
export async function rotateSecret({ config }: LoadedConfig, flags: Flags): Promise<ExitCode> {
  const path = secretFileOf(config);
  const step = flags.text('step');
  const fresh = newSecret();
  if (step !== undefined) {
    if (!isStep(step)) throw new UsageError(`--step: expected one of ${Object.keys(ROTATION_STEPS).join(', ')}`);
    change(path, step, fresh);
    return EXIT.ok;
  }
  for (const next of ['drop', 'add', 'use'] as const) {
    change(path, next, fresh);
    if (next === 'add') await sleep(config['cluster.reload_interval'] * INTERVALS_TO_HEAR);
  }
  process.stdout.write(`${path}: a new secret is in use; the one before it is accepted until the next rotation\n`);
  return EXIT.ok;
}

const isStep = (text: string): text is Step => Object.hasOwn(ROTATION_STEPS, text);

function change(path: string, step: Step, fresh: string): void {
  const [current, ...others] = parseSecrets(readFileSync(path, 'utf8'));
  if (current === undefined) throw new Error('parseSecrets finds one at least');
  const changed = ROTATION_STEPS[step]([current, ...others], fresh);
  writeSecrets(path, parseSecrets(changed.join('\n')));
}

/** @throws INVALID_CONFIGURATION when the secret is not in a file */
function secretFileOf(config: Config): string {
  if (config['cluster.secret'] !== '') {
    throw new SkeinError(
      'INVALID_CONFIGURATION',
      'cluster.secret cannot change while services run; give them cluster.secret_file instead',
    );
  }
  return config['cluster.secret_file'] === '' ? ownSecretFile(config.data_dir) : resolve(config['cluster.secret_file']);
}
