import { SkeinError } from '#shared/error.ts';
import type { TaskReport } from '#shared/task/task.ts';
import { must } from '#shared/must.ts';
import type { BatchRange } from '../spool/spooled-output.ts';
import { compressMessage } from '../batch/compress-message.ts';
import { encodeAppMetadata } from '#shared/flight/flight-data.ts';
import { type LentMessage } from '../batch/arrow-message.ts';
import { SHORT_PARTITION_BYTES } from '../exchange/peer-clients.ts';
import { SendWindow } from '#shared/flight/send-window.ts';
import type { FlightCall } from './flight-call.ts';
import type { OpenedPartition } from '../task/task-registry.ts';

/**
 * Sends batches of a partition without consuming them: schema and dictionaries first, the task's report last.
 * @throws QUERY_CANCELLED when the output is dropped meanwhile, STORAGE_ERROR
 */
export async function sendPartition(
  call: FlightCall,
  { output, partition, report }: OpenedPartition,
  { range, compress }: { readonly range: BatchRange; readonly compress: boolean },
): Promise<void> {
  const stop = (): boolean => call.cancelled || output.closed.aborted;
  const window = new SendWindow(stop);
  const wake = (): void => window.wake();
  call.on('cancelled', wake);
  output.closed.addEventListener('abort', wake, { once: true });
  const lease = { isOpen: true };
  const write = async (message: Uint8Array | LentMessage): Promise<void> => {
    window.open(message.length);
    call.write(message, () => window.close(message.length));
    await window.room();
  };
  try {
    for (const message of output.prologue) await write(message);
    for (const batch of output.select(partition, range)) {
      if (stop()) break;
      const message = await output.read(batch, lease);
      await write(compress ? await compressMessage(bytesOf(message)) : message);
    }
    if (!stop()) await write(encodeAppMetadata(Buffer.from(JSON.stringify(ofPartition(report, partition)))));
    // gRPC has copied the lent messages once it has sent them.
    await window.sent();
    if (output.closed.aborted) throw new SkeinError('QUERY_CANCELLED', 'the query has ended');
  } finally {
    lease.isOpen = false;
    output.closed.removeEventListener('abort', wake);
    await output.release();
  }
}

/** Reads batches of a partition as `sendPartition` sends them, but for the report; null when they are long. @throws as `sendPartition` */
export async function readShortPartition(
  { output, partition }: OpenedPartition,
  range: BatchRange,
): Promise<readonly Uint8Array[] | null> {
  try {
    const batches = output.select(partition, range);
    const bytes = [...output.prologue.map(({ length }) => length), ...batches.map((batch) => batch.bytes)];
    if (bytes.reduce((sum, more) => sum + more, 0) > SHORT_PARTITION_BYTES) return null;
    const read = await Promise.all(batches.map((batch) => output.read(batch, { isOpen: true })));
    if (output.closed.aborted) throw new SkeinError('QUERY_CANCELLED', 'the query has ended');
    return [...output.prologue, ...read.map(bytesOf)];
  } finally {
    await output.release();
  }
}

const bytesOf = (message: Uint8Array | LentMessage): Uint8Array =>
  message instanceof Uint8Array ? message : message.bytes();

/** Leaves only one of the partitions, without its messages: a reader wants its own, and there may be a thousand. */
const ofPartition = ({ partitions, ...report }: TaskReport, partition: number): TaskReport => {
  const { rows, bytes, batches } = must(partitions[partition], 'the task has the partition');
  return { ...report, partitions: [{ rows, bytes, batches }] };
};
