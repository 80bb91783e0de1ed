import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';

/** The bytes that COPY ... TO STDOUT gives. */
export async function copyOut(client: pg.Client, sql: string): Promise<Buffer> {
  const stream = client.query(copyTo(sql));
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
