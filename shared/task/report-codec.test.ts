import { expect, test } from 'vitest';
import { taskId } from '#shared/id.ts';
import { decodeReport, encodeReport } from './report-codec.ts';
import type { TaskReport } from './task.ts';

const given: TaskReport = {
  taskId: taskId('t1'),
  rows: 3,
  batches: 2,
  outputBytes: 9,
  scheduledMs: 1,
  waits: { inputsMs: 0, queuedMs: 0 },
  quanta: 1,
  spilledBytes: 0,
  peakMemoryBytes: 0,
  bytesScanned: 0,
  scans: [],
  profile: null,
  files: [],
  partitions: [],
} as unknown as TaskReport;

test('the messages of its partitions travel as bytes, each comes back to its own', () => {
  const bytes = { rows: 1, batches: 1, bytes: 3 };
  const partitions = [
    { ...bytes, messages: [Uint8Array.of(0, 255), Uint8Array.of()] },
    { rows: 0, batches: 0, bytes: 0 },
    { ...bytes, messages: [Uint8Array.of(7)] },
  ];
  const sent = encodeReport({ ...given, partitions });
  expect(sent.messages.map((one) => [...one])).toEqual([[0, 255], [], [7]]);
  expect(sent.report.toString()).not.toContain('255');
  expect(decodeReport(sent)).toStrictEqual({ ...given, partitions });
  expect(() => decodeReport({ ...sent, messages: [] })).toThrow('its messages have come');
});
