import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PARTS } from './parts.ts';
import { projectRoot } from './support/cluster.ts';

const MINUTES_MAX = 60;

/** `npm run part -- NAME`: the scripts of one part of `.ci/run --full`. Exits 1 when one fails, or when the hour is over. */
async function main([name = '']: readonly string[]): Promise<number> {
  const part = PARTS.find((one) => one.name === name);
  if (part === undefined) {
    process.stderr.write(`usage: npm run part -- ${PARTS.map((one) => one.name).join('|')}\n`);
    return 2;
  }
  const deadline = AbortSignal.timeout(MINUTES_MAX * 60_000);
  for (const script of part.scripts) {
    process.stdout.write(`part ${part.name}: npm run ${script}\n`);
    const child = spawn('npm', ['run', '-s', ...script.split(' ')], {
      cwd: projectRoot,
      stdio: 'inherit',
      signal: deadline,
    });
    try {
      const [code] = (await once(child, 'close')) as [number | null];
      if (code === 0) continue;
      process.stdout.write(`part ${part.name}: npm run ${script} failed with ${String(code)}\n`);
    } catch {
      process.stdout.write(`part ${part.name}: not done after ${MINUTES_MAX} minutes\n`);
    }
    return 1;
  }
  process.stdout.write(`part ${part.name}: passed\n`);
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
