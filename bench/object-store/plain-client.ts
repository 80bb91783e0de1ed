import type { Storage } from '#shared/storage/storage.ts';

/** A client that does nothing with the bytes of a store. */

type StoredFile = { readonly location: string; readonly sizeBytes: number };

/** The Parquet files below a location. */
export async function sizesOf(storage: Storage, folder: string): Promise<readonly StoredFile[]> {
  const found: StoredFile[] = [];
  for await (const page of storage.listFiles(folder)) found.push(...page);
  return found.filter(({ location }) => location.endsWith('.parquet'));
}

/** Fetches so many bytes of the files in so many ranges, one behind the other. @returns milliseconds */
export async function fetchPlainly(
  storage: Storage,
  files: readonly StoredFile[],
  { bytes, requests, connections }: { readonly bytes: number; readonly requests: number; readonly connections: number },
): Promise<number> {
  const each = Math.ceil(bytes / requests);
  const ranges = files.flatMap(({ location, sizeBytes }) =>
    Array.from({ length: Math.floor(sizeBytes / each) }, (_, i) => ({ location, at: i * each })),
  );
  // The same range may come twice where the files are smaller than what was read of several tables.
  let next = 0;
  const begunMs = performance.now();
  const work = async (): Promise<void> => {
    for (let i = next++; i < requests; i = next++) {
      const range = ranges[i % ranges.length];
      if (range !== undefined) await storage.readRange(range.location, range.at, each);
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  return performance.now() - begunMs;
}

/** Writes the Parquet files below a location again elsewhere, one after the other. @returns milliseconds of the writes */
export async function uploadPlainly(storage: Storage, from: string, to: string): Promise<number> {
  let ms = 0;
  for (const [i, { location, sizeBytes }] of (await sizesOf(storage, from)).entries()) {
    const bytes = await storage.readRange(location, 0, sizeBytes);
    const begunMs = performance.now();
    await storage.writeStream(`${to}/${i}.parquet`, one(bytes));
    ms += performance.now() - begunMs;
  }
  return ms;
}

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}
