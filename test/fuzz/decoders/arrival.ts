import {
  Bool,
  Dictionary,
  Field,
  FixedSizeBinary,
  FixedSizeList,
  Int32,
  Int8,
  List,
  Null,
  Struct,
  Table,
  Utf8,
  vectorFromArray,
  type Vector,
} from 'apache-arrow';
import { arrivedType, plainField } from '#coordinator/arrival/arrived-type.ts';
import { plainBatch } from '#coordinator/arrival/plain-batch.ts';
import { readBatches } from '#coordinator/arrival/read-batches.ts';
import { decodeFlightData, encodeFlightData, type FlightData } from '#shared/flight/flight-data.ts';
import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import { rowsMessages } from '#test/support/flight-rows.ts';
import type { Decoder } from '../decoder.ts';
import { mutate } from '../mutate.ts';
import type { Random } from '../random.ts';
import { framed, lie, messagesIn, readPlain } from './frames.ts';

const BYTES_MAX = 4 * 2 ** 20;
/** Rows of a batch that are looked at: a batch may say that it has any number. */
const ROWS_MAX = 5_000;

const list = (type: Int32 | Utf8 | Null): List => new List(new Field('item', type, true));
const COLUMNS: readonly Readonly<Record<string, Vector>>[] = [
  {
    i: vectorFromArray([1, null, 3, 4, 5, 6, 7, 8, 9, 10], new Int32()),
    s: vectorFromArray(['a', '', null, 'ünï', 'x', 'y', 'z', 'u', 'v', 'w'], new Utf8()),
    b: vectorFromArray([true, null, false, true, true, true, true, true, true, false], new Bool()),
  },
  {
    d: vectorFromArray(['a', 'b', null, 'a', 'b', 'a'], new Dictionary(new Utf8(), new Int8())),
    l: vectorFromArray([[1, null], null, [], [3], [4, 5, 6], [7]], list(new Int32())),
    n: vectorFromArray([null, null, null, null, null, null], new Null()),
  },
  {
    st: vectorFromArray(
      [{ a: 1, t: ['x'] }, null, { a: null, t: null }, { a: 2, t: [] }],
      new Struct([new Field('a', new Int32(), true), new Field('t', list(new Utf8()), true)]),
    ),
    fl: vectorFromArray([[1, 2], [3, null], null, [4, 5]], new FixedSizeList(2, new Field('item', new Int32(), true))),
    fb: vectorFromArray([Buffer.from('ab'), null, Buffer.from('cd'), Buffer.from('ef')], new FixedSizeBinary(2)),
  },
];
const HONEST = COLUMNS.map((columns) =>
  rowsMessages(new Table(columns)).map((one) => encodeFlightData(one.data_header, one.data_body)),
);

/** A message whose metadata, or whose body, has wrong numbers. */
function lying(random: Random, message: Buffer): Buffer {
  const { header, body } = decodeFlightData(message);
  if (random.chance(0.3)) return encodeFlightData(Buffer.from(lie(random, header)), body);
  if (random.chance(0.7)) return encodeFlightData(header, Buffer.from(lie(random, body)));
  return mutate(random, message, random.pick(HONEST[0] ?? [message]));
}

async function* sent(messages: readonly Buffer[]): AsyncGenerator<FlightData<Buffer>, void> {
  for (const message of messages) yield asClient(() => decodeFlightData(message));
}

/** A broken frame is the client's fault, as its reader says. */
function asClient<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new SkeinError('INVALID_REQUEST', 'a message is no FlightData', { cause });
  }
}

/** Reads what a client sends, and then what has become of it as a worker does: whatever is let through is as the engine's own batches are. */
async function readArrival(input: Buffer): Promise<void> {
  const { schema, batches } = await readBatches(sent(messagesIn(input)));
  const fields = schema.fields.map((field, i) => plainField(`c${i}`, arrivedType(field, 'microseconds')));
  for await (const batch of batches) {
    const count = Math.min(batch.numRows, ROWS_MAX);
    if (!(count > 0)) continue;
    const plain = plainBatch({ batch, from: 0, count, bytesMax: BYTES_MAX, precise: 'microseconds' });
    if (plain === undefined) continue;
    readPlain(fields, encodeFlightData(plain.header, Buffer.concat(plain.body)));
  }
}

/** The rows that a client sends with a statement. */
export const ARRIVAL: Decoder = {
  name: 'arrival',
  samples: HONEST.map(framed),
  grammar: (random) => {
    const messages = must(random.pick(HONEST), 'a stream');
    return framed(messages.map((message) => (random.chance(0.4) ? message : lying(random, message))));
  },
  decode: readArrival,
  errors: ['INVALID_REQUEST', 'NOT_SUPPORTED', 'NUMERIC_OVERFLOW'],
};
