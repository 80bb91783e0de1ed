import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import type { Flags } from '../command.ts';
import { EXIT, UsageError, type ExitCode } from '../exit-code.ts';
import { clientOptions } from '../sql/client-options.ts';
import { reportError } from './report-error.ts';
import { Progress } from './progress.ts';
import { isFresh, StageClient, type FileRange } from './stage-client.ts';
import { splitStage } from './split-stage.ts';

/** Files longer than this come in parts. */
const PART_BYTES = 64 * 2 ** 20;
const PARTS_AT_ONCE = 4;

/**
 * `skein put FILE ... @stage/path`: several files, a path that ends with a slash, and the stage alone put each file under its own name into
 * that folder; one file has the path otherwise. Prints a line for each file.
 */
export async function put(loaded: LoadedConfig, flags: Flags, args: readonly string[]): Promise<ExitCode> {
  const target = args.at(-1) ?? '';
  const files = args.slice(0, -1);
  if (files.length === 0 || !target.startsWith('@')) throw new UsageError('expected FILE ... @STAGE[/PATH]');
  const { stage, path } = splitStage(target);
  const isFolder = files.length > 1 || path === '' || path.endsWith('/');
  const folder = path === '' || path.endsWith('/') ? path : `${path}/`;
  const client = new StageClient(clientOptions(loaded, flags));
  return reportError(async () => {
    for (const file of files) await putFile(client, stage, isFolder ? folder + basename(file) : path, file);
    return EXIT.ok;
  });
}

async function putFile(client: StageClient, stage: string, path: string, file: string): Promise<void> {
  const size = await sizeOf(file);
  const progress = new Progress(path, size);
  const onBytes = (bytes: number): void => progress.add(bytes);
  try {
    if (size <= PART_BYTES) await putWhole(client, { stage, path, size }, file, onBytes);
    else await putParts(client, { stage, path, size }, file, onBytes);
  } finally {
    progress.end();
  }
  process.stdout.write(`${stage}/${path} ${size}\n`);
}

async function sizeOf(file: string): Promise<number> {
  const stats = await stat(file).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`cannot read ${file}: ${error.code ?? error.message}`);
  });
  if (!stats.isFile()) throw new UsageError(`${file} is not a file`);
  return stats.size;
}

type Target = { readonly stage: string; readonly path: string; readonly size: number };

async function putWhole(
  client: StageClient,
  { stage, path, size }: Target,
  file: string,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const urls = await client.presign(stage, 'PUT', [{ path, size }]);
  for (const url of urls) await client.putFile(url, { file, begin: 0, end: size }, onBytes);
}

type Begun = {
  readonly upload_id: string;
  readonly part_size: number;
  readonly parts: readonly { readonly part_number: number; readonly url: string }[];
  readonly 'expires-at-ms': number;
};

/** Sends some parts at once; when one of them fails for good, the upload is given up. */
async function putParts(
  client: StageClient,
  target: Target,
  file: string,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const { stage, path, size } = target;
  const begun = await client.post<Begun>('presign/multipart/init', target);
  const { upload_id, part_size } = begun;
  const waiting = begun.parts.values();
  const etags: { readonly part_number: number; readonly etag: string }[] = [];
  const sendSome = async (): Promise<void> => {
    for (const { part_number, url: first } of waiting) {
      const begin = (part_number - 1) * part_size;
      const range: FileRange = { file, begin, end: Math.min(size, begin + part_size) };
      let url = first;
      if (!isFresh({ ...begun, url })) {
        const part = { path, size: range.end - begin, upload_id, part_number };
        for (const renewed of await client.presign(stage, 'PUT', [part])) url = renewed.url;
      }
      etags.push({ part_number, etag: await client.putFile({ url }, range, onBytes) });
    }
  };
  try {
    await Promise.all(Array.from({ length: PARTS_AT_ONCE }, sendSome));
    const parts = etags.toSorted((a, b) => a.part_number - b.part_number);
    await client.post('presign/multipart/complete', { stage, path, upload_id, parts });
  } catch (error) {
    // No other part is begun.
    for (const _part of waiting);
    await client.post('presign/multipart/abort', { stage, path, upload_id }).catch(() => undefined);
    throw error;
  }
}
