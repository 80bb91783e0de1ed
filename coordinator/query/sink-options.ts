import { join } from 'node:path';
import type { HeldOptions } from '../sink/held-sink.ts';
import type { RunnerServices } from './runner-services.ts';

/** The limits of rows that wait for their statement's commit. */
export const heldOptions = ({ config }: Pick<RunnerServices, 'config'>): HeldOptions => ({
  memoryBytesMax: config['coordinator.result_holdback'],
  bytesMax: config['coordinator.result_bytes_max'],
  folder: join(config.data_dir, 'spool'),
});
