import type { Config } from '#shared/config/config-schema.ts';
import type { Logger } from '#shared/log/logger.ts';
import { WorkPool } from './work-pool.ts';

/**
 * Opens the threads by which a service reads tables, as configured by `reader.*`. @param cacheBytes cache of decoded data of all threads
 * together
 */
export function readerPool(config: Config, cacheBytes: number, log: Logger): WorkPool {
  const threads = config['reader.threads'];
  return new WorkPool({
    threads,
    heapBytes: config['reader.heap_limit'],
    timeoutMs: config['reader.timeout'],
    kind: 'tables',
    tooComplex: 'TABLE_DATA_TOO_COMPLEX',
    settings: {
      fileBytes: Math.floor(config['reader.file_memory'] / threads),
      cacheBytes: Math.floor(cacheBytes / threads),
    },
    log,
  });
}
