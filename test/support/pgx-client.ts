import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot, run } from './cluster.ts';

/** The client in Go by pgx, which is built when first needed; its sources lie in `test/clients/pgx`. */
export async function pgxClient(): Promise<string> {
  const folder = join(projectRoot, 'test/clients/pgx');
  const digest = createHash('sha256');
  for (const file of ['main.go', 'go.mod', 'go.sum']) digest.update(await readFile(join(folder, file)));
  const cache = join(projectRoot, '.cache/go');
  const binary = join(cache, `pgx-${digest.digest('hex').slice(0, 16)}`);
  if (!existsSync(binary)) {
    await mkdir(cache, { recursive: true });
    const { code, stderr } = await run('go', ['build', '-o', binary, '.'], { cwd: folder });
    if (code !== 0) throw new Error(`go build: exit ${code}\n${stderr}`);
  }
  return binary;
}
