import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot, run } from '#test/support/cluster.ts';

/**
 * The Python side of the tests: a virtual environment in `.cache/venv` with the packages that `python-requirements.txt` pins, made when
 * it is first asked for. A machine without python3 or without a package index fails here, with what pip said: never a silent skip.
 */
const REQUIREMENTS = join(projectRoot, 'test/support/python-requirements.txt');
const VENV = join(projectRoot, '.cache/venv');

let ready: Promise<string> | undefined;

/** The `bin` folder of the virtual environment. */
export function pythonBin(): Promise<string> {
  ready ??= create();
  return ready;
}

async function create(): Promise<string> {
  const bin = join(VENV, 'bin');
  const wanted = createHash('sha256')
    .update(await readFile(REQUIREMENTS))
    .digest('hex');
  const stamp = join(VENV, 'requirements.sha256');
  if (existsSync(stamp) && (await readFile(stamp, 'utf8')) === wanted) return bin;
  await rm(VENV, { recursive: true, force: true, maxRetries: 5 });
  await mkdir(join(projectRoot, '.cache'), { recursive: true });
  await runOk('python3', ['-m', 'venv', VENV]);
  await runOk(join(bin, 'pip'), ['install', '--quiet', '--disable-pip-version-check', '-r', REQUIREMENTS]);
  await writeFile(stamp, wanted);
  return bin;
}

async function runOk(command: string, args: readonly string[]): Promise<string> {
  const result = await run(command, args);
  if (result.code !== 0) throw new Error(`${command} ${args.join(' ')}: exit ${result.code}\n${result.stderr}`);
  return result.stdout;
}

/** Runs a script of `test/` with the virtual environment's Python; answers its standard output, throws when it fails. */
export async function python(script: string, ...args: readonly string[]): Promise<string> {
  return runOk(join(await pythonBin(), 'python'), [join(projectRoot, script), ...args]);
}
