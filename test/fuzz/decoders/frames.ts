import { Schema, type Field } from 'apache-arrow';
import { Message } from 'apache-arrow/ipc/metadata/message';
import { decodeTask, decodeTaskHead } from '#shared/task/task-codec.ts';
import { principalId, taskId, tenantId } from '#shared/id.ts';
import { SkeinError } from '#shared/error.ts';
import { TextColumnReader } from '#coordinator/sink/text-column.ts';
import { ArrowInput, type ArrowBatch } from '#worker/duckdb/arrow-in.ts';
import type { ArrowMessage } from '#worker/duckdb/arrow-out.ts';
import { checkBatch } from '#worker/duckdb/check-batch.ts';
import { Instance } from '#worker/duckdb/instance.ts';
import { readBatch, readMessage, readSchema } from '#worker/duckdb/ipc-message.ts';
import { duckdb, word } from '#worker/duckdb/library.ts';
import { addressOf } from '#worker/duckdb/memory.ts';
import { eachMessage } from '../../support/duckdb-ipc.ts';
import { compressMessage, plainMessage } from '#worker/batch/compress-message.ts';
import { decodeFlightData, headerOf } from '#shared/flight/flight-data.ts';
import { encodeArrowMessage, encodeNative, freeMessage, messageBytes } from '#worker/batch/arrow-message.ts';
import { FILE_CREDENTIAL } from '#test/support/file-credential.ts';
import type { Decoder } from '../decoder.ts';
import { mutate } from '../mutate.ts';
import type { Random } from '../random.ts';

/** Messages of a stream, each with its length before it: what a worker reads of another. */
export const framed = (messages: readonly Uint8Array[]): Buffer =>
  Buffer.concat(
    messages.flatMap((message) => {
      const length = Buffer.alloc(4);
      length.writeUInt32LE(message.length);
      return [length, message];
    }),
  );

export function messagesIn(input: Buffer): readonly Buffer[] {
  const messages: Buffer[] = [];
  for (let at = 0; at + 4 <= input.length;) {
    const end = at + 4 + input.readUInt32LE(at);
    // A buffer of its own, as gRPC hands it out.
    messages.push(Buffer.from(input.subarray(at + 4, end)));
    at = end;
  }
  return messages;
}

const instance = Instance.open({ threads: '1' });
const connection = instance.connect();
connection.run("SET arrow_lossless_conversion = true; SET arrow_output_version = '1.5'");

/** The messages of a query as a worker's spool holds them: the bodies of batches are aligned. */
function messagesOf(sql: string): readonly Uint8Array[] {
  const messages: Uint8Array[] = [];
  const keep = (message: ArrowMessage): void => {
    if (message.kind !== 'batch') {
      messages.push(encodeArrowMessage(message));
      return;
    }
    const native = encodeNative(message);
    messages.push(Buffer.from(messageBytes(native)));
    freeMessage(native);
  };
  eachMessage(connection, sql, keep, instance);
  return messages;
}

const HONEST = [
  "SELECT i, i::VARCHAR || ' text' AS s, i % 3 = 0 AS f, [i, NULL] AS l, i::DECIMAL(38, 3) AS d FROM range(70) t(i)",
  "SELECT (['a', 'b', 'c'][1 + i % 3])::ENUM('a', 'b', 'c') AS e, {'a': i, 'b': [i::VARCHAR]} AS st FROM range(50) t(i)",
  "SELECT MAP {i: 'x'} AS m, [i, i, i]::BIGINT[3] AS a, union_value(n := i) AS u, NULL AS n, '\\x00'::BLOB AS b FROM range(40) t(i)",
].map(messagesOf);
const COMPRESSED = await Promise.all(HONEST.map(async (messages) => Promise.all(messages.map(compressMessage))));

/** Writes a wrong number somewhere into a message: counts, offsets and lengths are words of 4 or 8 bytes. */
export function lie(random: Random, message: Uint8Array): Uint8Array {
  const bytes = Buffer.from(message);
  for (let left = 1 + random.below(3); left > 0; left--) {
    const at = random.below(Math.max(1, (bytes.length >> 2) - 1)) * 4;
    if (bytes.length >= at + 4) bytes.writeUInt32LE(random.number() >>> 0, at);
  }
  return bytes;
}

/**
 * Reads a stream as a worker reads that of another one. Unchecked bytes could make the Arrow library hang, and DuckDB read foreign memory.
 */
async function readStream(input: Buffer): Promise<void> {
  let fields: ReturnType<typeof readSchema> | undefined;
  const dictionaries: ArrowBatch[] = [];
  for (const message of messagesIn(input)) {
    const { header, body } = decodeFlightData(message);
    if (header.length === 0) continue;
    const metadata = readMessage(header);
    if (metadata.isSchema()) fields = readSchema(header);
    else if (metadata.isDictionaryBatch()) {
      const owner = body.slice();
      dictionaries.push(readBatch(header, { address: addressOf(owner), bytes: owner.length, owner }));
    } else {
      const plain = await plainMessage(message);
      try {
        const owner = Buffer.from(messageBytes(plain));
        const address = addressOf(owner) + BigInt(plain.bodyOffset);
        const bytes = owner.length - plain.bodyOffset;
        const batch = readBatch(headerOf(owner), { address, bytes, owner });
        checkBatch(fields ?? [], batch, dictionaries);
        readRows(fields ?? [], batch, dictionaries);
      } finally {
        freeMessage(plain);
      }
    }
  }
}

/** Reads a batch of the engine's own making. @throws INTERNAL_ERROR when it is not as a worker requires it */
export function readPlain(fields: readonly Field[], message: Buffer): void {
  const schema = readSchema(Buffer.from(Message.encode(Message.from(new Schema([...fields])))));
  const owner = Buffer.from(message);
  const { header, body } = decodeFlightData(owner);
  const batch = readBatch(header, { address: addressOf(body), bytes: body.length, owner });
  checkBatch(schema, batch, []);
  readRows(schema, batch, []);
}

/** Reads all rows as DuckDB does: an address outside of the batch ends the process. */
function readRows(fields: ReturnType<typeof readSchema>, batch: ArrowBatch, dictionaries: readonly ArrowBatch[]): void {
  using rows = new ArrowInput(connection, { fields, dictionaries, rows: batch.rows, batches: [batch] });
  for (const chunk of rows.chunks()) duckdb.destroy_data_chunk(word(chunk));
}

/** The batches that a worker reads of another. */
export const FRAMES: Decoder = {
  name: 'frames',
  samples: [...HONEST, ...COMPRESSED].map(framed),
  grammar: (random) => {
    const messages = random.pick([...HONEST, ...COMPRESSED]);
    const other = random.pick(messages);
    return framed(
      messages.map((message) => {
        if (random.chance(0.5)) return message;
        return random.chance(0.8) ? lie(random, message) : mutate(random, Buffer.from(message), Buffer.from(other));
      }),
    );
  },
  decode: readStream,
  // ENGINE_FAULT: DuckDB notices an impossible value itself, and its instance is closed.
  errors: ['INTERNAL_ERROR', 'NOT_SUPPORTED', 'INVALID_ARGUMENT', 'ENGINE_FAULT'],
};

const TEXTS = messagesOf("SELECT '[' || i || ']' AS json FROM range(100) t(i)");

/** The JSON rows that a coordinator reads of a worker. */
export const RESULT_FRAMES: Decoder = {
  name: 'result-frames',
  samples: [framed(TEXTS)],
  grammar: (random) => framed(TEXTS.map((message) => (random.chance(0.3) ? message : lie(random, message)))),
  decode: (input) => {
    const reader = new TextColumnReader();
    for (const message of messagesIn(input)) reader.read(decodeFlightData(message));
  },
  errors: ['INTERNAL_ERROR'],
};

const TASK = Buffer.from(
  [
    JSON.stringify({
      taskId: taskId('t'),
      tenant: tenantId('acme'),
      principal: principalId('p'),
      access: [{ allowedRoots: ['file:///w'], credential: FILE_CREDENTIAL }],
      inputs: [],
    }),
    JSON.stringify({
      sql: ['SELECT 1 FROM ', { scan: 0 }],
      scans: [{ columns: [{ initialDefault: { $int: '1' } }], nameMapping: null, predicate: { kind: 'true' } }],
    }),
    JSON.stringify({ scan: 0, files: [{ path: 'file:///w/a', constants: { '1': { $int: '2' } }, deletes: [] }] }),
    '',
  ].join('\n'),
);

/** The task that a worker has of a coordinator: its head in the main thread, the rest in a slot. */
export const TASK_MESSAGE: Decoder = {
  name: 'task',
  samples: [TASK],
  grammar: (random) => mutate(random, TASK, TASK),
  decode: async (input) => {
    try {
      await decodeTask(decodeTaskHead({ spec: input, messages: [] }));
    } catch (error) {
      // As its caller does.
      throw SkeinError.of(error);
    }
  },
  errors: ['INTERNAL_ERROR'],
};
