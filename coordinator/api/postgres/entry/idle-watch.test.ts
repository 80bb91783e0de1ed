import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { IdleWatch } from './idle-watch.ts';
import { SessionOver } from '../message/wire-error.ts';
import { WireReader } from '../message/wire-reader.ts';

/** A connection that waits for its client. @returns the SQLSTATE with which the wait ends; null: it goes on */
function waiting(watch: IdleWatch, isInTransaction: boolean, check: () => Promise<void>): Promise<string | null> {
  const reader = new WireReader(new PassThrough());
  watch.add({ reader, check, isInTransaction: () => isInTransaction });
  const ended = reader.bytes(1).then(
    () => 'none',
    (error: unknown) => (error as { readonly sqlState: string }).sqlState,
  );
  return Promise.race([ended, sleep(1_600).then(() => null)]);
}

const fits = (): Promise<void> => Promise.resolve();
const isOver = (): Promise<void> => Promise.reject(new SessionOver('over'));

test('a connection that waits ends when it was idle for too long, not within a transaction, and when its session is over', async () => {
  using watch = new IdleWatch({ idleMs: 10, stallMs: 0, isLeaving: () => false });
  using endless = new IdleWatch({ idleMs: 0, stallMs: 0, isLeaving: () => false });
  expect(
    await Promise.all([
      waiting(watch, false, fits),
      waiting(watch, true, fits),
      waiting(watch, true, isOver),
      waiting(endless, false, fits),
    ]),
  ).toEqual(['57P05', null, '57P01', null]);
});

test('a hand-over ends connections outside of transactions', async () => {
  using watch = new IdleWatch({ idleMs: 0, stallMs: 0, isLeaving: () => true });
  expect(await Promise.all([waiting(watch, false, fits), waiting(watch, true, fits)])).toEqual(['57P01', null]);
  expect(watch.inTransaction).toBe(1);
});

test('a client that stops within a message or a COPY ends, one that waits between messages does not', async () => {
  using watch = new IdleWatch({ idleMs: 0, stallMs: 10, isLeaving: () => false });
  const outcome = async (sent: Buffer, read: (reader: WireReader) => Promise<unknown>): Promise<string | null> => {
    const stream = new PassThrough();
    stream.write(sent);
    const reader = new WireReader(stream);
    watch.add({ reader, check: fits, isInTransaction: () => true });
    const ended = read(reader).then(
      () => 'none',
      (error: unknown) => (error as { readonly sqlState: string }).sqlState,
    );
    return Promise.race([ended, sleep(1_600).then(() => null)]);
  };
  const { signal } = new AbortController();
  const [message, copied] = [
    (reader: WireReader) => reader.message(100),
    (reader: WireReader) => reader.until(signal, () => reader.copied(100)),
  ];
  const half = Buffer.concat([Buffer.from('Q'), Buffer.of(0, 0, 0, 20), Buffer.from('SELECT')]);
  expect(
    await Promise.all([
      outcome(half, message),
      outcome(Buffer.alloc(0), copied),
      outcome(Buffer.alloc(0), message),
      outcome(Buffer.from('Q'), message),
    ]),
  ).toEqual(['57P05', '57P05', null, null]);
});
