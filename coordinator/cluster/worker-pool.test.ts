import { pino } from 'pino';
import { afterEach, expect, test, vi } from 'vitest';
import { plainSecurity } from '#shared/grpc/channel-security.ts';
import { DEFAULT_MLFQ } from '#shared/mlfq-spec.ts';
import { fixedKeyring } from '#shared/keyring.ts';
import { silentLogger } from '#shared/log/logger.ts';
import type { Membership } from '#shared/membership/member.ts';
import { staticMembership } from '#shared/membership/static-membership.ts';
import { SCRIPTED_RELEASE, startScriptedWorker, type WorkerScript } from '#test/support/scripted/worker.ts';
import { WorkerPool } from './worker-pool.ts';
import { patience } from '#test/support/run/slowness.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

const script: WorkerScript = { secret: 's', output: async function* () {} };

async function worker(changes: Partial<WorkerScript> = {}, port = 0) {
  const started = await startScriptedWorker({ ...script, ...changes }, port);
  closers.push(started.kill);
  return started;
}

const options = {
  coordinatorId: 'c',
  epoch: 7,
  heartbeatIntervalMs: 50,
  heartbeatTimeoutMs: 1_500,
  mlfq: () => DEFAULT_MLFQ,
  release: SCRIPTED_RELEASE,
};

function pool(addresses: readonly string[], secret = 's', log = silentLogger): WorkerPool {
  const made = new WorkerPool(staticMembership(addresses), {
    ...options,
    security: plainSecurity(fixedKeyring(secret)),
    log,
  });
  closers.push(() => made.close());
  return made;
}

const kinds = (made: WorkerPool): string[] => made.states().map(({ state }) => state.kind);

test('workers attach and tell their cores', async () => {
  const [a, b] = [await worker(), await worker()];
  const made = pool([`http://${a.address}/`, b.address]);
  await expect(made.available(new AbortController().signal)).rejects.toMatchObject({ code: 'NO_WORKERS' });
  await vi.waitFor(() => expect(made.liveCount()).toBe(2));
  await made.available(new AbortController().signal);
  expect(a.beats[0]?.epoch).toBe('7');
  expect(made.open().map(({ info }) => info.cores)).toEqual([2, 2]);
});

const OURS = 'Skein 0.1.0 with DuckDB 1.5.5';

test.each([
  ['another Skein', { skein: '0.2.0' }, 'Skein 0.2.0 with DuckDB 1.5.5'],
  ['a Skein that does not say its release', { skein: '' }, 'an older Skein with DuckDB 1.5.5'],
  ['another DuckDB', { duckdb: '1.6.0' }, 'Skein 0.1.0 with DuckDB 1.6.0'],
])('a worker of %s is refused by name, and takes tasks when it was replaced', async (_what, release, theirs) => {
  const lines: { readonly msg: string; readonly worker?: string; readonly name?: string; readonly reason?: string }[] =
    [];
  const other = await worker({ release });
  const made = pool([other.address], 's', pino({ level: 'warn' }, { write: (line) => lines.push(JSON.parse(line)) }));
  await vi.waitFor(() => expect(kinds(made)).toEqual(['refused']));
  const reason = `scripted is ${theirs}, this coordinator ${OURS}`;
  expect(made.noWorkers().message).toBe(`no worker is available; refused: ${reason}`);
  await vi.waitFor(() => expect(other.attached()).toBeGreaterThan(1), { timeout: patience(5_000) });
  other.kill();
  await worker({}, other.port);
  await vi.waitFor(() => expect(made.liveCount()).toBe(1), { timeout: patience(5_000) });
  // It was tried and refused several times, but that was logged once.
  expect(lines).toMatchObject([{ msg: 'worker refused', worker: other.address, name: 'scripted', reason }]);
});

test('a worker with another secret gets no task', async () => {
  const good = await worker();
  const wrong = pool([good.address], 'wrong');
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(wrong.liveCount()).toBe(0);
});

test('a member beyond loopback is not dialled in plaintext, and one that never answers is ignored; each is told of once', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => void lines.push(line) });
  const good = await worker();
  let tell: (addresses: readonly string[]) => void = () => undefined;
  const membership: Membership = {
    watch: (_kind, onChange) => {
      tell = (addresses) =>
        onChange(addresses.map((address) => ({ kind: 'worker', id: address, name: address, address })));
    },
    close: () => Promise.resolve(),
  };
  const made = new WorkerPool(membership, { ...options, security: plainSecurity(fixedKeyring('s')), log });
  closers.push(() => made.close());
  const addresses = ['10.1.2.3:8090', '127.0.0.1:1', good.address];
  tell(addresses);
  tell([...addresses, 'worker.example:8090']);
  await vi.waitFor(() => expect(made.liveCount()).toBe(1));
  // Several attempts at the one that does not answer.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const about = (text: string): number => lines.filter((line) => line.includes(text)).length;
  expect(['10.1.2.3:8090', '127.0.0.1:1"', 'worker.example:8090'].map(about)).toEqual([1, 1, 1]);
  expect(about('mutual TLS')).toBe(2);
  expect(made.states().map(({ address }) => address)).not.toContain('10.1.2.3:8090');
  expect(made.liveCount()).toBe(1);
});

test('a worker that dies is lost at once, its tasks are told, and it is found again when it is back', async () => {
  const first = await worker();
  const made = pool([first.address]);
  await vi.waitFor(() => expect(made.liveCount()).toBe(1));
  const [live] = made.open();
  first.kill();
  await vi.waitFor(() => expect(live?.lost.aborted).toBe(true), { timeout: patience(2_000) });
  expect(live?.lost.reason).toMatchObject({ code: 'WORKER_LOST' });
  await worker({}, first.port);
  await vi.waitFor(() => expect(made.liveCount()).toBe(1), { timeout: patience(5_000) });
});

test('two workers that ask to end may do so one after the other, and a lone one at once', async () => {
  const [a, b] = [await worker(), await worker()];
  const blamed: string[] = [];
  const made = new WorkerPool(staticMembership([a.address, b.address]), {
    ...options,
    security: plainSecurity(fixedKeyring('s')),
    log: silentLogger,
    onHung: ({ queryId }) => void blamed.push(queryId),
  });
  closers.push(() => made.close());
  const mayEnd = (of: typeof a): boolean => of.beats.at(-1)?.may_end === true;
  await vi.waitFor(() => expect(made.liveCount()).toBe(2), patience(5_000));
  a.askFor('one');
  b.askFor('two');
  await vi.waitFor(() => expect(mayEnd(a) || mayEnd(b)).toBe(true), patience(5_000));
  const [first, second] = mayEnd(a) ? [a, b] : [b, a];
  // Also after it has gone, and until it is back.
  await new Promise((resolve) => setTimeout(resolve, 200));
  first.kill();
  await vi.waitFor(() => expect(made.liveCount()).toBe(1), patience(5_000));
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(second.beats.some((beat) => beat.may_end)).toBe(false);
  await worker({}, first.port);
  await vi.waitFor(() => expect(mayEnd(second)).toBe(true), { timeout: patience(5_000) });
  expect(blamed.toSorted()).toEqual(['one', 'two']);

  const lone = await worker();
  const small = pool([lone.address]);
  await vi.waitFor(() => expect(small.liveCount()).toBe(1), patience(5_000));
  lone.askFor('three');
  await vi.waitFor(() => expect(mayEnd(lone)).toBe(true), patience(5_000));
  // The quantum has ended by itself.
  lone.askFor(undefined);
  await vi.waitFor(() => expect(mayEnd(lone)).toBe(false), patience(5_000));
});
