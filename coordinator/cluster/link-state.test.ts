import { expect, test } from 'vitest';
import { queryId } from '#shared/id.ts';
import { EXPECTED_MS, firstLink, isSameLife, nextLink, type LinkEvent, type LinkState } from './link-state.ts';
import type { WorkerInfo } from './worker-info.ts';

const OURS = { skein: '1.0.0', duckdb: 'v1' } as unknown as WorkerInfo['release'];
const RUN = { queryId: queryId('11111111-1111-4111-8111-111111111111') } as unknown as NonNullable<WorkerInfo['hung']>;

/** A heartbeat of the worker `id`. */
const beat = (id: string, said: Partial<WorkerInfo> = {}): LinkEvent => ({
  kind: 'beat',
  info: { id, name: 'w', release: OURS, hung: null, asksToEnd: null, ...said } as unknown as WorkerInfo,
  release: OURS,
  lost: new AbortController(),
});

/** The states after events that come ten ms after each other. */
function through(...events: readonly LinkEvent[]): readonly LinkState[] {
  const states = [firstLink({ nowMs: 1_000, monotonicMs: 0 })];
  for (const [i, event] of events.entries()) {
    const at = { nowMs: 1_010 + 10 * i, monotonicMs: 10 + 10 * i };
    states.push(nextLink(states[i] ?? firstLink(at), event, at));
  }
  return states;
}
const last = (...events: readonly LinkEvent[]): LinkState | undefined => through(...events).at(-1);

test('a worker attaches, is lost when it is silent, and attaches again in another life', () => {
  const states = through(beat('a'), beat('a'), { kind: 'silent' }, { kind: 'attach' }, beat('b'));
  expect(states.map(({ kind }) => kind)).toEqual(['connecting', 'live', 'live', 'lost', 'connecting', 'live']);
  expect(states.map(({ sinceMs }) => sinceMs)).toEqual([1_000, 1_010, 1_010, 1_030, 1_040, 1_050]);
  expect(states.map(({ thereMs }) => thereMs)).toEqual([0, 10, 20, 20, 20, 50]);
});

test('beats of one process are of one life, and a beat of another process begins the next', () => {
  const [, one, two, other] = through(beat('a'), beat('a'), beat('b'));
  if (one === undefined || two === undefined || other === undefined) throw new Error('three states');
  expect(isSameLife(one, two)).toBe(true);
  expect(isSameLife(two, other)).toBe(false);
});

test('one of another release is refused until a beat shows that it was replaced', () => {
  const other = beat('a', { release: { ...OURS, skein: '2.0.0' } });
  const refused = last(other, { kind: 'attach' });
  expect(refused).toMatchObject({ kind: 'refused', reason: expect.stringContaining('2.0.0') as string });
  expect(refused?.refusedFor).not.toBe('');
  expect(last(other, { kind: 'attach' }, beat('a'))).toMatchObject({ kind: 'live', refusedFor: '' });
});

test('a stranger is refused for one cause, whatever it says', () => {
  const causes = through({ kind: 'unproven', reason: 'x' }, { kind: 'unproven', reason: 'y' }).map(
    ({ refusedFor }) => refusedFor,
  );
  expect(causes).toEqual(['', 'unproven', 'unproven']);
});

test('one that ends itself because of a run is expected back, and only its first report blames', () => {
  const ended = last(beat('a'), beat('a', { hung: RUN }));
  expect(ended).toMatchObject({ kind: 'lost', expectedUntilMs: 20 + EXPECTED_MS, blamed: RUN.queryId });
  expect(last(beat('a', { hung: RUN }))).toMatchObject({ kind: 'lost', blamed: null });
});

test('a permission to end holds for as long as the worker asks for it in this life', () => {
  const asks = beat('a', { asksToEnd: RUN });
  expect(last(asks, { kind: 'permitted' }, asks)).toMatchObject({ mayEnd: true, blamed: RUN.queryId });
  expect(last(asks, { kind: 'permitted' }, beat('a'))).toMatchObject({ mayEnd: false });
  expect(last(asks, { kind: 'permitted' }, beat('b', { asksToEnd: RUN }))).toMatchObject({ mayEnd: false });
  expect(last({ kind: 'permitted' })).toMatchObject({ kind: 'connecting' });
});
