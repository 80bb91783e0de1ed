import { spawn, type ChildProcess } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { silentLogger } from '#shared/log/logger.ts';
import { makeEtcdFolder } from '#test/support/etcd.ts';
import { freePort } from '#test/support/postgres.ts';
import type { SkeinError } from '#shared/error.ts';
import { etcdElection } from './etcd-election.ts';
import { etcdMembership, etcdRegistration, type EtcdOptions } from './etcd-membership.ts';
import type { Member } from './member.ts';

let folder: string;
let etcd: ChildProcess;
let options: EtcdOptions;

const start = async (client: number, peer: number): Promise<void> => {
  const url = `http://127.0.0.1:${client}`;
  const args = ['--data-dir', folder, '--listen-client-urls', url, '--advertise-client-urls', url];
  const peerUrl = `http://127.0.0.1:${peer}`;
  const peers = ['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl];
  etcd = spawn('etcd', [...args, ...peers, '--initial-cluster', `default=${peerUrl}`], { stdio: 'ignore' });
  await vi.waitFor(async () => expect((await fetch(`${url}/health`)).status).toBe(200), { timeout: 20_000 });
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
  await vi.waitFor(() => expect(ids()).toBe('1,2'), { timeout: 5_000 });

  await first.close();
  await vi.waitFor(() => expect(ids()).toBe('2'), { timeout: 1_000 });

  const gone = new Promise((resolve) => etcd.once('exit', resolve));
  etcd.kill('SIGKILL');
  await gone;
  await start(...ports);
  const third = etcdRegistration(options, member('3'));
  await vi.waitFor(() => expect(ids()).toBe('2,3'), { timeout: 30_000 });

  await Promise.all([second.close(), third.close(), other.close(), membership.close()]);
});

test('one candidate leads; the next one does when it gives up, and a leader without etcd gives up in time', async () => {
  const events: string[] = [];
  const candidate = (id: string) =>
    etcdElection(options, 'test', id, async (lost, started) => {
      events.push(`${id} leads`);
      started();
      await new Promise((resolve) => {
        lost.addEventListener('abort', resolve, { once: true });
      });
      events.push(`${id} ends: ${(lost.reason as SkeinError).code}`);
    });
  const first = candidate('a');
  await vi.waitFor(() => expect(events).toEqual(['a leads']), { timeout: 10_000 });
  const second = candidate('b');
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(events).toEqual(['a leads']);
  await first.close();
  await vi.waitFor(() => expect(events.slice(1)).toEqual(['a ends: QUERY_CANCELLED', 'b leads']), { timeout: 10_000 });

  const gone = new Promise((resolve) => etcd.once('exit', resolve));
  etcd.kill('SIGKILL');
  await gone;
  await vi.waitFor(() => expect(events.slice(3)).toEqual(['b ends: NOT_ACTIVE']), { timeout: 10_000 });
  await start(...ports);
  await vi.waitFor(() => expect(events.slice(4)).toEqual(['b leads']), { timeout: 30_000 });
  await second.close();
}, 90_000);
