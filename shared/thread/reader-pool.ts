import type { Config } from '#shared/config/config-schema.ts';
import type { Logger } from '#shared/log/logger.ts';
import { WorkPool } from './work-pool.ts';

/** The threads of a service that read tables, as `reader.*` says. @param cacheBytes of all threads together, for what they decoded */
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
