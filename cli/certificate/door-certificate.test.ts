import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defaultConfig } from '#shared/config/config-schema.ts';
import { doorFiles, doorHosts, ensureDoorCertificate } from './door-certificate.ts';

const DAY_MS = 86_400_000;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skein-doors-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const read = (file: 'ca' | 'cert'): X509Certificate => new X509Certificate(readFileSync(doorFiles(folder)[file]));

test('an authority is made once, and a certificate for every name of this machine', async () => {
  const hosts = doorHosts(defaultConfig({ 'cluster.advertise_host': 'db.example.com' }));
  expect(await ensureDoorCertificate(folder, hosts)).toBe(true);
  const [authority, leaf] = [read('ca'), read('cert')];
  expect(leaf.verify(authority.publicKey)).toBe(true);
  for (const name of ['localhost', hostname(), 'db.example.com']) expect(leaf.checkHost(name)).toBe(name);
  for (const address of ['127.0.0.1', '::1']) expect(leaf.checkIP(address)).toBe(address);
  const mode = (name: string): number => statSync(join(folder, name)).mode & 0o777;
  expect(['ca.key', 'server.key', 'ca.pem', 'server.pem'].map(mode)).toEqual([0o600, 0o600, 0o644, 0o644]);
  expect(await ensureDoorCertificate(folder, hosts)).toBe(false);
});

test('it is renewed a month before it ends, and when it lacks a name; the authority stays', async () => {
  const hosts = ['localhost', '::1'];
  const nowMs = Date.now();
  await ensureDoorCertificate(folder, hosts, { days: 100 });
  const [authority, first] = [read('ca'), read('cert')];
  expect(await ensureDoorCertificate(folder, hosts, { nowMs: nowMs + 69 * DAY_MS })).toBe(false);
  expect(await ensureDoorCertificate(folder, hosts, { nowMs: nowMs + 71 * DAY_MS })).toBe(true);
  expect(read('cert').fingerprint256).not.toBe(first.fingerprint256);
  expect(await ensureDoorCertificate(folder, [...hosts, 'new.example.com'])).toBe(true);
  expect(read('ca').fingerprint256).toBe(authority.fingerprint256);
});
