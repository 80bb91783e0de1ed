import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { callerOf, eventHub, historyRow, recordedOf } from '#test/support/api-fixtures.ts';
import type { EventHub } from '../../observe/event-hub.ts';
import { documentedApp, type DocumentedApp } from './documented-app.ts';
import { eventRoutes } from './event-routes.ts';
import { patience } from '#test/support/run/slowness.ts';

let app: DocumentedApp;
let events: EventHub;
afterEach(async () => {
  events[Symbol.dispose]();
  await app.close();
});

async function listen(): Promise<URL> {
  events = eventHub();
  app = documentedApp({ forceCloseConnections: true });
  const authenticate = () => Promise.resolve(callerOf('t'));
  void app.register((routes, _options, done) => {
    eventRoutes(routes, { events, authenticate, onRequest: () => Promise.resolve(), callerOf: () => callerOf('t') });
    done();
  });
  return new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
}

/** Most events of the test: more than the buffers of two sockets hold. */
const EVENTS_MAX = 100_000;

test('a reader that takes nothing is cut off, and one beside it has every event', async () => {
  const url = await listen();
  const lazy = connect(Number(url.port), url.hostname);
  await once(lazy, 'connect');
  lazy.write(`GET /api/events HTTP/1.1\r\nHost: x\r\n\r\n`);
  lazy.pause();
  const response = await fetch(new URL('/api/events?topics=queries', url));
  await vi.waitFor(() => expect(events.size).toBe(2));
  let text = '';
  const reading = (async () => {
    for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) text += part;
  })();
  const row = historyRow({ sql: 'x'.repeat(400) });
  let sent = 0;
  for (; events.size === 2 && sent < EVENTS_MAX; sent++) {
    events.record(recordedOf(row), null);
    if (sent % 50 === 0) {
      await nextTurn();
      await vi.waitFor(() => expect(text.length).toBeGreaterThan(sent * 400 - 100_000));
    }
  }
  await vi.waitFor(() => expect(events.size).toBe(1));
  await vi.waitFor(() => expect(text).toContain(`.${sent}\n`), patience(5_000));
  const numbers = text.matchAll(/^id: \d+\.\d+\.(\d+)$/gm).map(([, number]) => Number(number));
  expect([...numbers]).toEqual(Array.from({ length: sent + 1 }, (_value, i) => i));
  events[Symbol.dispose]();
  await reading;
  expect(text.endsWith('}\n\n') && text.includes('event: end')).toBe(true);
  lazy.destroy();
});

test('a reader that leaves frees its place', async () => {
  const url = await listen();
  const stop = new AbortController();
  await fetch(new URL('/api/events', url), { signal: stop.signal });
  expect(events.size).toBe(1);
  stop.abort();
  await vi.waitFor(() => expect(events.size).toBe(0));
});
