import { call, callJson } from '../api/call.ts';
import { ownPath } from './stage-files.ts';

/** A part of this size is sent at once, and again when it did not come through. */
const PART_BYTES = 8 * 2 ** 20;
/** Parts of one file that are on their way at once: a browser has six connections for everything. */
const AT_ONCE = 3;
/** How long a part that does not come through is tried, and how long between two tries. */
const TRY_MS_MAX = 10 * 60_000;
const PAUSE_MS_MAX = 5_000;

export type UploadProgress = { readonly sent: number; readonly total: number; readonly isWaiting: boolean };

type Begun = {
  readonly upload_id: string;
  readonly part_size: number;
  readonly parts: readonly { readonly part_number: number; readonly url: string }[];
};

type Options = {
  readonly stage: string;
  readonly path: string;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: UploadProgress) => void;
};

/**
 * Puts a file into a stage in parts. A part whose connection was lost is sent again, so that an upload goes on where it was; the browser reads
 * each part from the disk when its turn comes, and holds no more than those that are on their way.
 * @throws ApiError, and an Error that says why the file is not there
 */
export async function upload(file: Blob, { stage, path, signal, onProgress }: Options): Promise<void> {
  const base = '/v1/stages/presign/multipart';
  const begun = await callJson<Begun>(`${base}/init`, {
    method: 'POST',
    // The page's policy lets it ask nobody but the coordinator.
    body: { stage, path, size: file.size, part_size: PART_BYTES, through: 'coordinator' },
    signal,
  });
  const place = { stage, path, upload_id: begun.upload_id };
  try {
    const etags = await sendParts(file, begun, { signal, onProgress });
    const parts = begun.parts.map(({ part_number: number }) => ({
      part_number: number,
      etag: etags.get(number) ?? '',
    }));
    await again(
      () => call(`${base}/complete`, { method: 'POST', body: { ...place, parts }, signal }),
      signal,
      () => undefined,
    );
  } catch (error) {
    await call(`${base}/abort`, { method: 'POST', body: place }).catch(() => undefined);
    throw error;
  }
}

type Sending = Pick<Options, 'signal' | 'onProgress'>;

async function sendParts(
  file: Blob,
  begun: Begun,
  { signal, onProgress }: Sending,
): Promise<ReadonlyMap<number, string>> {
  const etags = new Map<number, string>();
  const left = [...begun.parts];
  let sent = 0;
  let waiting = 0;
  const tell = (): void => onProgress({ sent, total: file.size, isWaiting: waiting > 0 });
  const sendNext = async (): Promise<void> => {
    for (let part = left.shift(); part !== undefined; part = left.shift()) {
      const { part_number: number, url } = part;
      const path = ownPath(url);
      const bytes = file.slice((number - 1) * begun.part_size, number * begun.part_size);
      const onWait = (isWaiting: boolean): void => {
        waiting += isWaiting ? 1 : -1;
        tell();
      };
      etags.set(number, await again(() => putPart(path, bytes, signal), signal, onWait));
      sent += bytes.size;
      tell();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sendNext));
  return etags;
}

const UNREADABLE = 'the file cannot be read: it is a folder, or has changed or gone since it was chosen';

/** Whether the browser still reads a part of the file: that it does not looks like a connection that was lost. */
const isReadable = (bytes: Blob): Promise<boolean> =>
  bytes
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => true,
      () => false,
    );

/** A refusal that another try would meet again. */
class Refused extends Error {}

async function putPart(path: string, bytes: Blob, signal: AbortSignal): Promise<string> {
  const answer = await fetch(path, { method: 'PUT', body: bytes, headers: { 'x-skein-console': '1' }, signal }).catch(
    async (error: unknown) => {
      if (!signal.aborted && !(await isReadable(bytes))) throw new Refused(UNREADABLE);
      throw error;
    },
  );
  if (answer.ok) return answer.headers.get('etag') ?? ((await answer.json()) as { readonly etag?: string }).etag ?? '';
  const message = `the coordinator answered ${answer.status}`;
  if (answer.status < 500 && answer.status !== 429) throw new Refused(message);
  throw new Error(message);
}

/** Tries until it works, while the connection may come back. */
async function again<T>(work: () => Promise<T>, signal: AbortSignal, onWait: (isWaiting: boolean) => void): Promise<T> {
  const until = Date.now() + TRY_MS_MAX;
  for (let pause = 250; ; pause = Math.min(PAUSE_MS_MAX, pause * 2)) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || error instanceof Refused || Date.now() > until) throw error;
      if (
        (error as { readonly status?: number }).status !== undefined &&
        ![0, 502, 503, 504].includes((error as { readonly status: number }).status)
      )
        throw error;
      onWait(true);
      await new Promise((resolve) => setTimeout(resolve, pause));
      onWait(false);
    }
  }
}
