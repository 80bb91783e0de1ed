import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';

/** The bytes that COPY ... TO STDOUT gives. */
export async function copyOut(client: pg.Client, sql: string): Promise<Buffer> {
  const stream = client.query(copyTo(sql));
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Sends bytes by COPY ... FROM STDIN, in pieces as they are given; answers the number of rows. */
export async function copyIn(client: pg.Client, sql: string, ...pieces: readonly (string | Buffer)[]): Promise<number> {
  const stream = client.query(copyFrom(sql));
  await pipeline(Readable.from(pieces.map((piece) => Buffer.from(piece))), stream);
  return stream.rowCount;
}

/** Ends the connection in the middle of a COPY. */
export async function breakOff(client: pg.Client, sql: string, piece: string): Promise<void> {
  const stream = client.query(copyFrom(sql));
  stream.on('error', () => undefined);
  client.on('error', () => undefined);
  await new Promise((written) => stream.write(piece, written));
  const { connection } = client as unknown as { readonly connection: { readonly stream: { destroy(): void } } };
  const ended = new Promise((resolve) => client.once('end', resolve));
  connection.stream.destroy();
  await ended;
}
