import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { S3Credential } from '#shared/storage/credential.ts';
import { S3Client } from '#shared/storage/s3/s3-client.ts';
import { freePort } from './postgres.ts';
import { pythonBin } from './python.ts';
import { patience } from '#test/support/run/slowness.ts';

const START_TIMEOUT_MS = patience(60_000);
const ROOT_KEY = { accessKeyId: 'skein-root-key', secretAccessKey: 'skein-root-secret-8c1e' };
const ROLE_NAME = 'skein';

const IDENTITIES = {
  identities: [
    {
      name: 'skein',
      credentials: [{ accessKey: ROOT_KEY.accessKeyId, secretKey: ROOT_KEY.secretAccessKey }],
      actions: ['Admin', 'Read', 'List', 'Tagging', 'Write'],
    },
  ],
};
/** One role, which may do everything, and which anybody with a key may have: the policies of sessions limit it. */
const roles = (roleArn: string): object => ({
  sts: {
    tokenDuration: '1h',
    maxSessionLength: '12h',
    issuer: 'seaweedfs-sts',
    signingKey: Buffer.from('a signing key that only this test has').toString('base64'),
  },
  policy: { defaultEffect: 'Deny', storeType: 'memory' },
  policies: [
    {
      name: 'Everything',
      document: {
        Version: '2012-10-17',
        Statement: [{ Effect: 'Allow', Action: ['s3:*', 'sts:*'], Resource: ['*'] }],
      },
    },
  ],
  roles: [
    {
      roleName: ROLE_NAME,
      roleArn,
      trustPolicy: {
        Version: '2012-10-17',
        Statement: [{ Effect: 'Allow', Principal: '*', Action: ['sts:AssumeRole'] }],
      },
      attachedPolicies: ['Everything'],
    },
  ],
});

export type Seaweedfs = AsyncDisposable & {
  /** `http://127.0.0.1:port` of S3 and STS; it has the bucket `warehouse`. */
  readonly endpoint: string;
  readonly key: S3Credential;
  readonly roleArn: string;
};

/** SeaweedFS ends when another program has taken one of its eight ports since they were chosen. */
const START_ATTEMPTS_MAX = 3;

/** SeaweedFS (Apache-2.0) with STS, over a folder of its own. Its program comes as a wheel of PyPI. */
export async function startSeaweedfs(attempts = START_ATTEMPTS_MAX): Promise<Seaweedfs> {
  const weed = join(await pythonBin('seaweedfs'), 'weed');
  const folder = await mkdtemp(join(tmpdir(), 'skein-weed-'));
  const roleArn = `arn:aws:iam::role/${ROLE_NAME}`;
  const [s3Config, iamConfig] = [join(folder, 's3.json'), join(folder, 'iam.json')];
  await writeFile(s3Config, JSON.stringify(IDENTITIES));
  await writeFile(iamConfig, JSON.stringify(roles(roleArn)));
  const names = ['master.port', 'master.port.grpc', 'volume.port', 'volume.port.grpc', 'filer.port', 'filer.port.grpc'];
  const port = await freePort();
  const ports = [`-s3.port=${port}`, `-s3.port.grpc=${await freePort()}`];
  for (const name of names) ports.push(`-${name}=${await freePort()}`);
  const own = [`-dir=${folder}`, '-ip=127.0.0.1', '-ip.bind=127.0.0.1', '-filer', '-s3'];
  const configs = [`-s3.config=${s3Config}`, `-s3.iam.config=${iamConfig}`];
  const child = spawn(weed, ['server', ...own, ...configs, ...ports], { cwd: folder, stdio: 'ignore' });
  const endpoint = `http://127.0.0.1:${port}`;
  const key: S3Credential = {
    kind: 's3',
    ...ROOT_KEY,
    sessionToken: null,
    expiresAtMs: null,
    region: 'us-east-1',
    endpoint,
    pathStyle: true,
  };
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      const closed = once(child, 'close');
      child.kill('SIGKILL');
      await closed;
    }
    await rm(folder, { recursive: true, force: true });
  };
  const hasEnded = (): boolean => child.exitCode !== null;
  try {
    await untilThere(key, hasEnded);
  } catch (error) {
    await stop();
    if (hasEnded() && attempts > 1) return startSeaweedfs(attempts - 1);
    throw error;
  }
  return { endpoint, key, roleArn, [Symbol.asyncDispose]: stop };
}

/**
 * Makes the bucket as soon as the server can: it answers before all of its parts know each other.
 * @throws when the server has ended, or after `START_TIMEOUT_MS`
 */
async function untilThere(key: S3Credential, hasEnded: () => boolean): Promise<void> {
  const endMs = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    try {
      await new S3Client(key).send({ bucket: 'warehouse', key: '', method: 'PUT' });
      await new S3Client(key).send({ bucket: 'warehouse', key: 'first', method: 'PUT', body: Buffer.from('x') });
      return;
    } catch (error) {
      if (hasEnded() || performance.now() > endMs) throw error;
      await sleep(200);
    }
  }
}
