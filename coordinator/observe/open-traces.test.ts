import { expect, onTestFinished, test, vi } from 'vitest';
import { defaultConfig, type Config } from '#shared/config/config-schema.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { must } from '#shared/must.ts';
import { historyRow } from '#test/support/api-fixtures.ts';
import { attributesOf, startOtlpReceiver, type OtlpReceiver, type OtlpSpan } from '#test/support/otlp-receiver.ts';
import type { EndedStatement, Traces } from '../query/traces.ts';
import { openTraces } from './open-traces.ts';
import { patience } from '#test/support/run/slowness.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';

const T0 = Date.parse('2026-01-01T00:00:00.001Z');
const statement = (changes: Partial<EndedStatement['row']> = {}): EndedStatement => ({
  row: historyRow({ status: 'completed', queued_at: new Date(T0), ended_at: new Date(T0 + 20), ...changes }),
  workClass: 'interactive',
  queries: [
    {
      runs: null,
      reason: null,
      starts: 0,
      startMs: 0,
      planMs: 5,
      queuedMs: 5,
      distributeMs: 0,
      runMs: 0,
      estimatedRows: null,
      plan: [],
      planTree: null,
      stages: [],
    },
  ],
});

async function receiver(): Promise<OtlpReceiver> {
  const made = await startOtlpReceiver();
  onTestFinished(() => made[Symbol.asyncDispose]());
  return made;
}

async function traces(changes: Partial<Config>, log = silentLogger): Promise<Traces> {
  return must(await openTraces(defaultConfig(changes), 'coordinator-1', log), 'an endpoint is set');
}

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

/** The spans of one statement with the header that its request had. */
async function spansOf(parent: string | null, changes: Partial<Config> = {}): Promise<readonly OtlpSpan[]> {
  const { url, spans } = await receiver();
  const open = await traces({ 'traces.otlp_endpoint': url, ...changes });
  open.ended(statement(), parent);
  await open.close();
  return spans;
}

test('without an endpoint nothing is traced', async () => {
  expect(await openTraces(defaultConfig(), 'coordinator-1', silentLogger)).toBeNull();
});

test('a collector gets the spans of a statement, with their times, and who has sent them', async () => {
  const { url, spans, resource, headers } = await receiver();
  vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'authorization=Bearer%20t');
  onTestFinished(() => void vi.unstubAllEnvs());
  const open = await traces({ 'traces.otlp_endpoint': `${url}/` });
  open.ended(statement({ error_code: 'QUERY_TIMEOUT' }), null);
  await open.close();
  expect(resource).toMatchObject({ 'service.name': 'skein-coordinator', 'service.instance.id': 'coordinator-1' });
  expect(headers['authorization']).toBe('Bearer t');
  const root = must(
    spans.find(({ name }) => name === 'select'),
    'the statement',
  );
  const nanos = (ms: number): string => `${T0 + ms}000000`;
  expect(root).toMatchObject({ kind: 2, startTimeUnixNano: nanos(0), endTimeUnixNano: nanos(20), status: { code: 2 } });
  expect(root.parentSpanId).toBeUndefined();
  expect(attributesOf(root)).toMatchObject({ 'error.type': 'QUERY_TIMEOUT', 'skein.workload_class': 'interactive' });
  const below = spans.filter((span) => span !== root);
  expect(below.map(({ name, startTimeUnixNano }) => [name, startTimeUnixNano])).toEqual([
    ['plan', nanos(0)],
    ['queue', nanos(5)],
  ]);
  for (const span of below) expect(span).toMatchObject({ traceId: root.traceId, parentSpanId: root.spanId });
});

test('a traceparent is the parent of the statement', async () => {
  const spans = await spansOf(`00-${TRACE}-${SPAN}-01`, { 'traces.sample_ratio': 0 });
  expect(spans.map(({ traceId }) => traceId)).toEqual([TRACE, TRACE, TRACE]);
  expect(spans.find(({ name }) => name === 'select')?.parentSpanId).toBe(SPAN);
});

test.each([
  ['a traceparent that is not sampled', `00-${TRACE}-${SPAN}-00`, 1],
  ['a share of none', null, 0],
])('%s keeps a statement out', async (_name, parent, ratio) => {
  expect(await spansOf(parent, { 'traces.sample_ratio': ratio })).toEqual([]);
});

test.each(['', 'x', `ff-${TRACE}-${SPAN}-01`, `00-${'0'.repeat(32)}-${SPAN}-01`, 'a'.repeat(100_000)])(
  'the traceparent %.20s is ignored',
  async (parent) => {
    const spans = await spansOf(parent);
    expect(spans.length).toBe(3);
    expect(spans.find(({ name }) => name === 'select')?.parentSpanId).toBeUndefined();
  },
);

test('a collector that takes nothing costs its spans, and the log says so once, and when it takes them again', async () => {
  const collector = await receiver();
  const log = { ...silentLogger, warn: vi.fn(), info: vi.fn() };
  const open = await traces({ 'traces.otlp_endpoint': collector.url }, log);
  collector.answer(400);
  open.ended(statement(), null);
  await vi.waitFor(() => expect(log.warn).toHaveBeenCalledOnce(), { timeout: patience(5_000) });
  open.ended(statement(), null);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(log.warn).toHaveBeenCalledOnce();
  collector.answer(200);
  open.ended(statement(), null);
  await vi.waitFor(() => expect(log.info).toHaveBeenCalledOnce(), { timeout: patience(5_000) });
  expect(collector.spans.length).toBe(3);
  await open.close();
});

test('a collector that does not answer holds up no end', async () => {
  const open = await traces({ 'traces.otlp_endpoint': 'http://127.0.0.1:9' });
  open.ended(statement(), null);
  const startMs = performance.now();
  await open.close();
  expect(performance.now() - startMs).toBeLessThan(3_000 * machineSlowness());
});
