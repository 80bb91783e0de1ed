import { LargeUtf8, Utf8 } from 'apache-arrow';
import { expect, test } from 'vitest';
import { decodeFlightData } from '#shared/flight/flight-data.ts';
import { flightMessages, lengthDelimited } from '#test/support/scripted/messages.ts';
import { TextColumnReader } from './text-column.ts';

const texts = [',[1,"ä"]', ',[2]', ',["", "日本"]'];

test.each([new Utf8(), new LargeUtf8()])('texts of a %s column lie in one piece', (type) => {
  const reader = new TextColumnReader();
  const batches = flightMessages(type, { json: texts }).map((m) => reader.read(decodeFlightData(m)));
  expect(batches[0]).toBeUndefined();
  expect(batches[1]?.rows).toBe(3);
  expect(batches[1]?.body.toString()).toBe(texts.join(''));
});

test('a result of two columns, a batch without schema and cut messages are refused', () => {
  const two = flightMessages(new Utf8(), { a: texts, b: texts });
  expect(() => new TextColumnReader().read(decodeFlightData(two[0] ?? Buffer.alloc(0)))).toThrow('columns');
  const one = flightMessages(new Utf8(), { a: texts });
  const batch = one[1] ?? Buffer.alloc(0);
  expect(() => new TextColumnReader().read(decodeFlightData(batch))).toThrow('no schema');
  expect(() => decodeFlightData(batch.subarray(0, batch.length - 1))).toThrow('not a FlightData message');
});

test('metadata travels beside data, unknown fields are skipped', () => {
  const message = Buffer.concat([Buffer.from([8 * 9, 5]), lengthDelimited(3, Buffer.from('{"rows":1}'))]);
  const decoded = decodeFlightData(message);
  expect(decoded.metadata.toString()).toBe('{"rows":1}');
  expect(new TextColumnReader().read(decoded)).toBeUndefined();
});
