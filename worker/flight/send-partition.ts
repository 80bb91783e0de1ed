import type { TaskReport } from '#proto/task.ts';
import type { BatchRange } from '../spool/spooled-output.ts';
import { encodeAppMetadata } from './flight-data.ts';
import { SendWindow, type FlightCall } from './send-window.ts';
import type { OpenedOutput } from './task-registry.ts';

/** Sends batches of a partition, which stays as it is; schema and dictionaries come first, the task's report last. */
export async function sendPartition(
  call: FlightCall,
  { output, partition, report }: OpenedOutput & { kind: 'partition' },
  range: BatchRange,
): Promise<void> {
  const window = new SendWindow();
  call.on('cancelled', () => window.wake());
  const write = async (message: Uint8Array): Promise<void> => {
    window.open(message.length);
    call.write(message, () => window.close(message.length));
    await window.room(call);
  };
  try {
    for (const message of output.prologue) await write(message);
    for (const batch of output.select(partition, range)) {
      if (call.cancelled) return;
      await write(await output.read(batch));
    }
    await write(encodeAppMetadata(Buffer.from(JSON.stringify(withoutPartitions(report)))));
  } finally {
    await output.release();
  }
}

/** Its readers want one partition, and there may be a thousand. */
const withoutPartitions = (report: TaskReport): TaskReport => ({ ...report, partitions: [] });
