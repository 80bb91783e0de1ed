import { run } from './cluster.ts';

/** Runs psql or pgbench to its end. @throws when it fails, with its messages */
export async function postgresProgram(
  program: 'psql' | 'pgbench',
  args: readonly string[],
  input = '',
): Promise<string> {
  const { code, stdout, stderr } = await run(program, args, { input, timeoutMs: 120_000 });
  if (code !== 0) throw new Error(`${program}: exit ${code}\n${stdout}\n${stderr}`);
  return stdout;
}

/** Runs a script of psql to its end, also past errors. @returns what it prints, errors in their places */
export async function psqlScript(url: string, script: string): Promise<string> {
  const args = ['-c', 'exec psql "$@" 2>&1', 'psql', '-X', '-q', '-A', url];
  const { stdout } = await run('sh', args, { input: script, timeoutMs: 300_000 });
  return stdout;
}
