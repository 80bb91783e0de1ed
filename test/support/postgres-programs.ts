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
