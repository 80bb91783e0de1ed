import { BufferRegion, FieldNode, Message, RecordBatch } from 'apache-arrow/ipc/metadata/message';
import { expect, test } from 'vitest';
import { threadCpuMs } from '#test/support/thread-cpu.ts';
import { readBatch, readMessage } from './ipc-message.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';

const BODY_BYTES = 64;
const read = (offset: number, length: number) => {
  const batch = new RecordBatch(1, [new FieldNode(1, 0)], [new BufferRegion(offset, length)], null);
  const body = { address: 4_096n, bytes: BODY_BYTES, owner: undefined };
  return readBatch(Message.encode(Message.from(batch, BODY_BYTES)), body);
};

test('a buffer lies inside of the body', () => {
  expect(read(8, 56).buffers).toEqual([{ address: 4_104n, bytes: 56, owner: undefined }]);
});

test.each([
  ['past its end', 8, 57],
  ['before its start', -8, 8],
  ['with less than nothing in it', 16, -8],
])('a buffer %s is refused', (_where, offset, length) => {
  expect(() => read(offset, length)).toThrow(expect.objectContaining({ code: 'INTERNAL_ERROR' }) as Error);
});

test('a count that lies costs nothing, wherever it stands', () => {
  const nodes = [1, 2, 3].map((length) => new FieldNode(length, 0));
  const batch = new RecordBatch(3, nodes, [new BufferRegion(0, 8), new BufferRegion(8, 8)], null);
  const honest = Buffer.from(Message.encode(Message.from(batch, BODY_BYTES)));
  let refused = 0;
  for (let at = 0; at + 4 <= honest.length; at += 4) {
    const lying = Buffer.from(honest);
    lying.writeInt32LE(2 ** 30, at);
    const cpuMs = threadCpuMs(() => {
      try {
        readMessage(lying);
      } catch (error) {
        expect(error).toMatchObject({ code: 'INTERNAL_ERROR' });
        refused++;
      }
    }, 1);
    expect(cpuMs).toBeLessThan(100 * machineSlowness());
  }
  expect(refused).toBeGreaterThan(5);
});
