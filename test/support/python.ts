import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { projectRoot, run } from '#test/support/cluster.ts';

/**
 * Python environments for the tests, in `.cache`, each with the packages that its requirements file pins, made when first needed. Without
 * python3 or a package index this fails with pip's message; no test is skipped silently.
 */
const ENVIRONMENTS = {
  python: { requirements: 'test/support/python-requirements.txt', folder: '.cache/venv' },
  sketches: { requirements: 'test/support/sketches-requirements.txt', folder: '.cache/venv-sketches' },
  flight: { requirements: 'test/support/flight-requirements.txt', folder: '.cache/venv-flight' },
  spark: { requirements: 'test/support/spark-requirements.txt', folder: '.cache/venv-spark' },
  // PyIceberg reads `container@account` by adlfs alone.
  azure: { requirements: 'test/support/azure-requirements.txt', folder: '.cache/venv-azure' },
  signing: { requirements: 'test/support/signing-requirements.txt', folder: '.cache/venv-signing' },
  helm: { requirements: 'test/support/helm-requirements.txt', folder: '.cache/venv-helm' },
  seaweedfs: { requirements: 'test/support/seaweedfs-requirements.txt', folder: '.cache/venv-seaweedfs' },
  postgres: { requirements: 'test/support/postgres-requirements.txt', folder: '.cache/venv-postgres' },
  // Tools that browse Postgres' catalog.
  tools: { requirements: 'test/support/tools-requirements.txt', folder: '.cache/venv-tools' },
  dbt: { requirements: 'test/support/dbt-requirements.txt', folder: '.cache/venv-dbt' },
  pgadmin: { requirements: 'test/support/pgadmin-requirements.txt', folder: '.cache/venv-pgadmin' },
  superset: { requirements: 'test/support/superset-requirements.txt', folder: '.cache/venv-superset' },
  trino: { requirements: 'test/support/trino-requirements.txt', folder: '.cache/venv-trino' },
} as const;

type Environment = keyof typeof ENVIRONMENTS;

const ready = new Map<Environment, Promise<string>>();

/** The `bin` folder of a virtual environment. */
export function pythonBin(environment: Environment = 'python'): Promise<string> {
  const made = ready.get(environment) ?? create(environment);
  ready.set(environment, made);
  return made;
}

async function create(environment: Environment): Promise<string> {
  const venv = join(projectRoot, ENVIRONMENTS[environment].folder);
  const requirements = join(projectRoot, ENVIRONMENTS[environment].requirements);
  const bin = join(venv, 'bin');
  const wanted = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex');
  const stamp = join(venv, 'requirements.sha256');
  const isMade = async (): Promise<boolean> => existsSync(stamp) && (await readFile(stamp, 'utf8')) === wanted;
  if (await isMade()) return bin;
  await using _ = await lockFolder(`${venv}.lock`);
  if (await isMade()) return bin;
  await rm(venv, { recursive: true, force: true, maxRetries: 5 });
  await runOk('python3', ['-m', 'venv', venv]);
  await runOk(join(bin, 'pip'), ['install', '--quiet', '--disable-pip-version-check', '-r', requirements]);
  await writeFile(stamp, wanted);
  return bin;
}

const MAKING_MS_MAX = 300_000;

/**
 * Locks by making a folder, because suites in two processes may make the same environment. An old folder, left by a killed run, is taken
 * over.
 */
async function lockFolder(path: string): Promise<AsyncDisposable> {
  await mkdir(dirname(path), { recursive: true });
  for (;;) {
    const made = await mkdir(path).then(
      () => true,
      () => false,
    );
    if (made) return { [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
    const since = await stat(path).catch(() => undefined);
    if (since !== undefined && Date.now() - since.mtimeMs > MAKING_MS_MAX)
      await rm(path, { recursive: true, force: true });
    await sleep(200);
  }
}

async function runOk(command: string, args: readonly string[]): Promise<string> {
  const result = await run(command, args);
  if (result.code !== 0) throw new Error(`${command} ${args.join(' ')}: exit ${result.code}\n${result.stderr}`);
  return result.stdout;
}

/** Runs a script of `test/` with the virtual environment's Python; answers its standard output, throws when it fails. */
export const python = (script: string, ...args: readonly string[]): Promise<string> =>
  pythonIn('python', script, ...args);

/** The same with the Python of another environment. */
export async function pythonIn(environment: Environment, script: string, ...args: readonly string[]): Promise<string> {
  return runOk(join(await pythonBin(environment), 'python'), [join(projectRoot, script), ...args]);
}

/**
 * A folder with another release of a package, made when first needed, beside those of an environment: a script that puts the folder first takes
 * from there what it has, and all else from the environment.
 * @param requirements with their versions; none of what they require comes along
 */
export async function packagesBeside(environment: Environment, requirements: readonly string[]): Promise<string> {
  const folder = join(projectRoot, '.cache', requirements.join('-').replaceAll('==', '-'));
  const pip = join(await pythonBin(environment), 'pip');
  await using _ = await lockFolder(`${folder}.lock`);
  if (existsSync(folder)) return folder;
  const coming = `${folder}.coming`;
  await rm(coming, { recursive: true, force: true, maxRetries: 5 });
  const flags = ['--quiet', '--disable-pip-version-check', '--no-deps', '--target', coming];
  await runOk(pip, ['install', ...flags, ...requirements]);
  await rename(coming, folder);
  return folder;
}
