import { spawn, type ChildProcess } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { silentLogger } from '#shared/log/logger.ts';
import { makeEtcdFolder } from '#test/support/etcd.ts';
import { freePort } from '#test/support/postgres.ts';
import type { SkeinError } from '#shared/error.ts';
import type { LeadProof } from './election.ts';
import { etcdElection } from './etcd-election.ts';
import { etcdMembership, etcdRegistration, type EtcdOptions } from './etcd-membership.ts';
import type { Member } from './member.ts';
import { patience } from '#test/support/run/slowness.ts';

let folder: string;
let etcd: ChildProcess;
let options: EtcdOptions;

const start = async (client: number, peer: number): Promise<void> => {
  const url = `http://127.0.0.1:${client}`;
  const args = ['--data-dir', folder, '--listen-client-urls', url, '--advertise-client-urls', url];
  const peerUrl = `http://127.0.0.1:${peer}`;
  const peers = ['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl];
  etcd = spawn('etcd', [...args, ...peers, '--initial-cluster', `default=${peerUrl}`], { stdio: 'ignore' });
  await vi.waitFor(async () => expect((await fetch(`${url}/health`)).status).toBe(200), { timeout: patience(20_000) });
};

let ports: [number, number];
beforeAll(async () => {
  folder = await makeEtcdFolder();
  ports = [await freePort(), await freePort()];
  await start(...ports);
  options = { endpoints: [`127.0.0.1:${ports[0]}`], prefix: '/skein/', leaseTtlMs: 2_000, log: silentLogger };
});
afterAll(async () => {
  etcd.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

test('members come, go at once on close, and are found again after etcd was away', async () => {
  const seen: (readonly Member[])[] = [];
  const membership = etcdMembership(options);
  membership.watch('worker', (members) => seen.push(members));
  const member = (id: string): Member => ({ kind: 'worker', id, name: id, address: `127.0.0.1:${id}` });
  const ids = (): string => (seen.at(-1) ?? []).map((m) => m.id).join(',');

  const first = etcdRegistration(options, member('1'));
  const second = etcdRegistration(options, member('2'));
  const other = etcdRegistration(options, { ...member('9'), kind: 'coordinator' });
  await vi.waitFor(() => expect(ids()).toBe('1,2'), { timeout: patience(5_000) });

  await first.close();
  await vi.waitFor(() => expect(ids()).toBe('2'), { timeout: 1_000 });

  const gone = new Promise((resolve) => etcd.once('exit', resolve));
  etcd.kill('SIGKILL');
  await gone;
  await start(...ports);
  const third = etcdRegistration(options, member('3'));
  await vi.waitFor(() => expect(ids()).toBe('2,3'), { timeout: patience(30_000) });

  await Promise.all([second.close(), third.close(), other.close(), membership.close()]);
});

/** The place of a second lease, whose clock is this process's; `away` = it does not answer. */
function proofs(ttlMs: number) {
  const place = { holder: '', untilMs: 0, away: false, releaseMs: 0 };
  const asked = (): void => {
    if (place.away) throw new Error('away');
  };
  const of = (id: string): LeadProof => ({
    take: async (force) => {
      asked();
      if (!force && place.holder !== id && performance.now() < place.untilMs) return false;
      Object.assign(place, { holder: id, untilMs: performance.now() + ttlMs });
      return true;
    },
    renew: async () => {
      asked();
      if (place.holder !== id) return false;
      place.untilMs = performance.now() + ttlMs;
      return true;
    },
    holder: async () => {
      asked();
      return performance.now() < place.untilMs ? { id: place.holder, url: `http://${place.holder}` } : undefined;
    },
    release: async () => {
      await sleep(place.releaseMs);
      if (place.holder === id) place.untilMs = 0;
    },
  });
  return { place, of };
}

const FIT = { isFit: () => true, yields: () => false };

/** Candidates that note what happens to them. */
function candidates(name: string, events: string[], of: (id: string) => LeadProof) {
  return (id: string) =>
    etcdElection(
      { etcd: options, name, candidate: { id, url: `http://${id}` }, proof: of(id), fitness: FIT },
      async (lost, started) => {
        events.push(`${id} leads`);
        started();
        await new Promise((resolve) => {
          lost.addEventListener('abort', resolve, { once: true });
        });
        const { code, message } = lost.reason as SkeinError;
        events.push(`${id} ends: ${code}, ${message.includes('shutting down') ? 'stopped' : 'lost'}`);
      },
    );
}

async function killEtcd(): Promise<void> {
  const gone = new Promise((resolve) => etcd.once('exit', resolve));
  etcd.kill('SIGKILL');
  await gone;
}

test('one candidate leads; the next one does when it gives up, and a leader without etcd and proof gives up in time', async () => {
  const events: string[] = [];
  const { place, of } = proofs(2_000);
  const candidate = candidates('test', events, of);
  const first = candidate('a');
  await vi.waitFor(() => expect(events).toEqual(['a leads']), { timeout: patience(10_000) });
  const second = candidate('b');
  await vi.waitFor(() => expect(second.leader()).toEqual({ id: 'a', url: 'http://a' }), { timeout: patience(5_000) });
  expect([events, first.leader()]).toEqual([['a leads'], undefined]);
  await first.close();
  await vi.waitFor(() => expect(events.slice(1)).toEqual(['a ends: NOT_ACTIVE, stopped', 'b leads']), {
    timeout: 10_000,
  });

  place.away = true;
  await killEtcd();
  await vi.waitFor(() => expect(events.slice(3)).toEqual(['b ends: NOT_ACTIVE, lost']), { timeout: patience(10_000) });
  place.away = false;
  await start(...ports);
  await vi.waitFor(() => expect(events.slice(4)).toEqual(['b leads']), { timeout: patience(30_000) });
  await second.close();
});

test('without etcd the one that renews its proof leads on, and nobody else begins; afterwards it has its key again', async () => {
  const events: string[] = [];
  const { place, of } = proofs(2_000);
  const candidate = candidates('away', events, of);
  const first = candidate('a');
  await vi.waitFor(() => expect(events).toEqual(['a leads']), { timeout: patience(10_000) });
  const second = candidate('b');
  await vi.waitFor(() => expect(second.leader()?.id).toBe('a'), { timeout: patience(5_000) });
  await killEtcd();
  await new Promise((resolve) => setTimeout(resolve, 6_000));
  expect([events, second.leader()?.id]).toEqual([['a leads'], 'a']);
  // One that comes now hears of it from the place of the proof.
  const third = candidate('c');
  await vi.waitFor(() => expect(third.leader()).toEqual({ id: 'a', url: 'http://a' }), { timeout: patience(10_000) });
  await third.close();
  await start(...ports);
  await new Promise((resolve) => setTimeout(resolve, 6_000));
  expect(events).toEqual(['a leads']);
  // From now on only its key keeps the other one from the lead.
  place.away = true;
  await new Promise((resolve) => setTimeout(resolve, 4_000));
  place.away = false;
  place.holder = '';
  place.untilMs = Infinity;
  await vi.waitFor(() => expect(events).toEqual(['a leads', 'a ends: NOT_ACTIVE, lost']), { timeout: patience(5_000) });
  await Promise.all([first.close(), second.close()]);
});

test('one that hands over has another lead at once, says who, and goes on until it is closed', async () => {
  const events: string[] = [];
  const { place, of } = proofs(2_000);
  place.releaseMs = 300;
  const candidate = candidates('hand-over', events, of);
  const first = candidate('a');
  await vi.waitFor(() => expect(events).toEqual(['a leads']), { timeout: patience(10_000) });
  const second = candidate('b');
  await vi.waitFor(() => expect(second.leader()?.id).toBe('a'), { timeout: patience(5_000) });
  await first.handOver();
  await vi.waitFor(() => expect(events).toEqual(['a leads', 'b leads']), { timeout: 500 });
  await vi.waitFor(() => expect(first.leader()).toEqual({ id: 'b', url: 'http://b' }), { timeout: 1_500 });
  await second.close();
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(events).toEqual(['a leads', 'b leads', 'b ends: NOT_ACTIVE, stopped']);
  await first.close();
  expect(events.at(-1)).toBe('a ends: NOT_ACTIVE, stopped');
});
