import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { must } from '#shared/must.ts';
import { stageFileNames } from '#shared/stage/stage-path.ts';
import { makeFolders } from '#shared/storage/make-folders.ts';
import type { Flags } from '../command.ts';
import { EXIT, UsageError, type ExitCode } from '../exit-code.ts';
import { clientOptions } from '../sql/client-options.ts';
import { QueryClient } from '../sql/query-client.ts';
import { reportError } from './report-error.ts';
import { Progress } from './progress.ts';
import { splitStage } from './split-stage.ts';
import { isFresh, StageClient } from './stage-client.ts';

/** URLs that are asked for at once. */
const FILES_AT_ONCE = 100;

/**
 * `skein get @stage/path [FOLDER]`: the file of the path, or those of the folder with their paths below it. Each gets its name when it is
 * whole. Prints a line for each file.
 */
export async function get(loaded: LoadedConfig, flags: Flags, args: readonly string[]): Promise<ExitCode> {
  const [source = '', folder = '.', ...more] = args;
  if (!source.startsWith('@') || more.length > 0) throw new UsageError('expected @STAGE[/PATH] [FOLDER]');
  const { stage, path } = splitStage(source.replace(/\/$/, ''));
  const options = clientOptions(loaded, flags);
  const client = new StageClient(options);
  return reportError(() => getFiles(client, new QueryClient(options), { source, stage, path, folder }));
}

async function getFiles(
  client: StageClient,
  queries: QueryClient,
  from: { readonly source: string; readonly stage: string; readonly path: string; readonly folder: string },
): Promise<ExitCode> {
  const { source, stage, path, folder } = from;
  const files = await list(queries, source);
  if (files.length === 0) {
    process.stderr.write(`skein: ${source} has no file\n`);
    return EXIT.failed;
  }
  for (let at = 0; at < files.length; at += FILES_AT_ONCE) {
    const some = files.slice(at, at + FILES_AT_ONCE);
    const presign = (of: readonly StageFile[]) =>
      client.presign(
        stage,
        'GET',
        of.map((file) => ({ path: file.path })),
      );
    const urls = await presign(some);
    for (const [i, one] of some.entries()) {
      const { path: file, size } = one;
      const local = join(folder, localName(file, path));
      const known = must(urls[i], 'there is a URL for each file');
      const [signed] = isFresh(known) ? [known] : await presign([one]);
      await fetchFile(client, { url: must(signed, 'there is a URL').url, size, file }, local);
      process.stdout.write(`${local} ${size}\n`);
    }
  }
  return EXIT.ok;
}

type StageFile = { readonly path: string; readonly size: number };

async function list(client: QueryClient, source: string): Promise<readonly StageFile[]> {
  const files: StageFile[] = [];
  try {
    await client.run(`LIST '${source.replaceAll("'", "''")}'`, (_head, rows) => {
      for (const row of rows) {
        const [path = '', size = ''] = JSON.parse(row) as readonly string[];
        files.push({ path, size: Number(size) });
      }
      return Promise.resolve();
    });
  } finally {
    client.close();
  }
  return files;
}

/** Where a file of the stage goes, below the folder: what a server answers is checked. @throws INVALID_REQUEST */
function localName(file: string, path: string): string {
  stageFileNames(file);
  if (file === path) return file.slice(file.lastIndexOf('/') + 1);
  return path === '' ? file : file.slice(path.length + 1);
}

async function fetchFile(
  client: StageClient,
  { url, size, file }: { readonly url: string; readonly size: number; readonly file: string },
  local: string,
): Promise<void> {
  await makeFolders(dirname(local));
  const coming = `${local}.${randomUUID()}.part`;
  const progress = new Progress(file, size);
  try {
    await client.getFile(url, (bytes) =>
      pipeline(
        bytes,
        async function* (chunks: AsyncIterable<Buffer>) {
          for await (const chunk of chunks) {
            progress.add(chunk.length);
            yield chunk;
          }
        },
        createWriteStream(coming),
      ),
    );
    await rename(coming, local);
  } finally {
    progress.end();
    await rm(coming, { force: true });
  }
}
