import { expect, test } from 'vitest';
import { arrowBuffer } from '../duckdb/arrow-buffer.ts';
import type { ArrowMessage } from '../duckdb/arrow-out.ts';
import type { ThreadChannel } from '../turns/slot-channel.ts';
import type { FromJob } from '../turns/slot-messages.ts';
import { TaskOutput } from './task-output.ts';

const message = (kind: ArrowMessage['kind'], rows = 0): ArrowMessage => ({
  kind,
  rows,
  header: new Uint8Array(8).fill(rows),
  // Buffers of a body are padded to 64 bytes.
  buffers: [arrowBuffer(new Uint8Array(64))],
  bodyBytes: 64,
});

function opened() {
  const sent: string[] = [];
  const channel = {
    listen: () => undefined,
    post: ({ outputs }: FromJob) => {
      for (const one of outputs) sent.push('rows' in one ? `${one.kind} of ${one.rows}` : one.kind);
    },
  } as unknown as ThreadChannel;
  const nothing = (): void => undefined;
  const output = new TaskOutput(1, channel, {
    bufferBytes: 1_000,
    spoolFull: () => false,
    onTaken: nothing,
    onWithdrawn: nothing,
    onHold: nothing,
    onKey: () => undefined,
    onTime: nothing,
    onCancel: nothing,
  });
  return { output, sent };
}

test('a statement that begins again sends its schema and dictionaries once', () => {
  const { output, sent } = opened();
  output.send(message('schema'));
  expect(output.restart()).toBe(true);
  for (const one of [message('schema'), message('dictionary'), message('batch', 2)]) output.send(one);
  output.close();
  expect(sent).toEqual(['data of 0', 'data of 0', 'data of 2']);
  expect([output.rows, output.batches]).toEqual([2, 1]);
});

test('so does one whose output is spooled', () => {
  const { output, sent } = opened();
  output.sendPartition(0, message('schema'));
  expect(output.restart()).toBe(true);
  for (const one of [message('schema'), message('batch', 3)]) output.sendPartition(0, one);
  output.close();
  expect(sent).toEqual(['prologue', 'batch of 3']);
});

test.each(['send', 'sendPartition'] as const)('a statement whose rows were sent (%s) does not begin again', (how) => {
  const { output } = opened();
  const send = (one: ArrowMessage): void => (how === 'send' ? output.send(one) : output.sendPartition(0, one));
  send(message('schema'));
  send(message('batch', 1));
  expect(output.restart()).toBe(false);
  output.close();
});
