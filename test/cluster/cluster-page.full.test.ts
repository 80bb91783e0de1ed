import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { projectRoot } from '#test/support/cluster.ts';
import { NumberedLoad } from '#test/support/numbered-load.ts';
import { PageClient } from '#test/support/page-client.ts';
import { PageHosts } from '#test/support/page-hosts.ts';

/**
 * The commands of docs/cluster.md, as they stand and in their order, on hosts that are network namespaces: the cluster is made, restarted,
 * upgraded, backed up and restored by them, under reads and numbered writes. It needs root, etcd, and Debian's Postgres with its programs.
 */

const HOSTS = [
  'catalog-1.internal etcd-1.internal',
  'catalog-2.internal',
  'coordinator-1.internal etcd-2.internal',
  'coordinator-2.internal',
  'worker-1.internal etcd-3.internal',
  'worker-2.internal',
  'worker-3.internal',
  'postgres.internal',
  'ca.internal',
];
const OPERATOR = 'ca.internal';
const COORDINATORS = ['coordinator-1.internal', 'coordinator-2.internal'];
const POSTGRES = '/usr/lib/postgresql/15/bin';
const TABLE = 'lake."default".numbered';
const READY_MS = 90_000;
/** A statement may meet these while processes are replaced: it has not happened, and may be sent again. */
const RETRYABLE = ['NOT_ACTIVE', 'NOBODY_LEADS', 'CATALOG_UNAVAILABLE', 'WORKER_LOST', 'NO_WORKERS', 'WORKER_DRAINING'];

const missing = [
  ...(process.getuid?.() === 0 ? [] : ['root']),
  ...(existsSync(join(POSTGRES, 'pg_basebackup')) ? [] : ['Postgres 15 of Debian']),
];
if (missing.length > 0) process.stderr.write(`cluster-page.test.ts is SKIPPED: it needs ${missing.join(' and ')}\n`);
const isSkipped = missing.length > 0;

type Block = { readonly section: string; readonly hosts: readonly string[]; readonly script: string };
type Status = {
  readonly leader: string;
  readonly problems: readonly string[];
  readonly members: readonly { kind: string; name: string; state: string; release: string; started: string }[];
};

let page: readonly Block[];
let hosts: PageHosts;
let client: PageClient;
let load: NumberedLoad | undefined;

beforeAll(async () => {
  if (isSkipped) return;
  page = blocksOf(await readFile(join(projectRoot, 'docs/cluster.md'), 'utf8'));
  hosts = await PageHosts.create(HOSTS);
  await makePostgres();
  for (const title of ['1. ', '2. ', '3. ', '4. ']) await runBlocks(sectionOf(title));
  const [services] = sectionOf('5. ');
  if (services === undefined) throw new Error('section 5 has blocks');
  await runBlocks([services]);
  client = new PageClient({
    coordinators: COORDINATORS.map((name) => ({ name, address: hosts.address(name) })),
    ca: await readFile(join(hosts.folder, OPERATOR, 'etc/skein/doors/ca.pem'), 'utf8'),
    token: async () => (await operator('skein token')).stdout.trim(),
  });
  await answers();
}, 400_000);

afterAll(async () => {
  await load?.stop();
  await hosts?.[Symbol.asyncDispose]();
}, 60_000);

/** The blocks of commands that say where they run, with the sections that they are in. */
function blocksOf(text: string): readonly Block[] {
  const names = HOSTS.map((name) => name.split(' ')[0] ?? '');
  return text.split(/^## /m).flatMap((part) => {
    const section = part.split('\n')[0] ?? '';
    return [...part.matchAll(/^```sh\n# on (.*)\n([^]*?)^```$/gm)].map(([, where = '', script = '']) => ({
      section,
      script,
      hosts: where === 'every host' ? names : where.split(', '),
    }));
  });
}

const sectionOf = (title: string): readonly Block[] => page.filter(({ section }) => section.startsWith(title));

/** Runs blocks one after the other, each on its hosts in their order. @returns what the last one printed */
async function runBlocks(blocks: readonly Block[]): Promise<string> {
  let printed = '';
  expect(blocks.length).toBeGreaterThan(0);
  for (const { section, script, hosts: where } of blocks) {
    for (const host of where) {
      const done = await hosts.run(host, script);
      expect(done.code, `${section}, on ${host}: ${done.stdout}${done.stderr}`).toBe(0);
      printed = done.stdout;
    }
  }
  return printed;
}

/** An empty Postgres of Debian, as its package makes one: the page begins with it. */
async function makePostgres(): Promise<void> {
  await writeFile(
    join(hosts.folder, 'postgres.internal/etc/systemd/system/postgresql.service'),
    [
      '[Service]',
      'User=postgres',
      `ExecStart=${POSTGRES}/postgres -D /var/lib/postgresql/15/main`,
      'KillSignal=SIGINT',
      '',
    ].join('\n'),
  );
  const done = await hosts.run(
    'postgres.internal',
    `install -d -o postgres -g postgres /run/postgresql /var/lib/postgresql /var/lib/postgresql/15
     su postgres -c '${POSTGRES}/initdb -D /var/lib/postgresql/15/main --auth-local=peer --no-sync -E UTF8 --locale C.UTF-8'
     systemctl start postgresql
     until su postgres -c 'psql -c "select 1"'; do sleep 0.2; done`,
  );
  expect(done.code, done.stderr).toBe(0);
}

/** Runs a command of the operator's. */
const operator = (command: string) =>
  hosts.run(OPERATOR, `set -a; . /etc/skein/cluster.env; . /etc/skein/operator.env; set +a\n${command}`);

async function status(): Promise<Status & { readonly code: number }> {
  const { code, stdout, stderr } = await operator('skein status --json');
  if (stdout === '') throw new Error(stderr);
  return { code, ...(JSON.parse(stdout) as Status) };
}

const answers = (): Promise<void> =>
  vi.waitFor(async () => expect(await client.ask('SELECT 42')).toEqual({ rows: [[42]] }), {
    timeout: READY_MS,
    interval: 500,
  });

test.skipIf(isSkipped)(
  'the commands of sections 1 to 5 make a cluster with TLS, in which all are ready',
  async () => {
    const [, asked] = sectionOf('5. ');
    if (asked === undefined) throw new Error('section 5 has two blocks');
    // A worker that is still starting is no problem, and no member yet.
    const kindsOf = ({ members }: Status): string =>
      members
        .map(({ kind }) => kind)
        .toSorted()
        .join(' ');
    await expect
      .poll(async () => kindsOf(await status()), { timeout: READY_MS })
      .toBe('catalog catalog coordinator coordinator worker worker worker');
    await expect.poll(async () => (await status()).problems, { timeout: READY_MS }).toEqual([]);
    const table = await runBlocks([asked]);
    expect(table).toContain('leads');
    const { members } = await status();
    expect(new Set(members.map(({ release }) => release)).size).toBe(1);
    expect(await runBlocks(sectionOf('6. '))).toContain('ok');
    expect(await client.ask(`CREATE TABLE ${TABLE} (n BIGINT)`)).toMatchObject({ rows: expect.anything() });
    load = new NumberedLoad(client, TABLE);
  },
  400_000,
);

test.skipIf(isSkipped)(
  'skein doctor on a host says that all is well, and what is not',
  async () => {
    const doctor = async (host: string): Promise<{ readonly code: number; readonly of: Record<string, string> }> => {
      const { code, stdout } = await hosts.run(
        host,
        `kind=${host.split('-')[0]}; set -a; . /etc/skein/cluster.env; . /etc/skein/$kind.env; skein doctor --json`,
      );
      const { checks } = JSON.parse(stdout) as { checks: readonly { check: string; state: string; message: string }[] };
      return {
        code,
        of: Object.fromEntries(checks.map(({ check, state, message }) => [check, `${state}: ${message}`])),
      };
    };
    const well = await doctor('catalog-2.internal');
    expect(well.code, JSON.stringify(well.of)).toBe(0);
    expect(well.of).toMatchObject({
      services: 'ok: catalog',
      'services’ ports': expect.stringContaining('runs, on 8181, 8191'),
      'Postgres of the cluster': expect.stringMatching(
        /^ok: postgres.internal:5432: Postgres 15, TLS, max_connections 200/,
      ),
      certificates: expect.stringContaining('cluster until'),
      clocks: expect.stringMatching(/^ok: Postgres/),
    });
    const key = '/etc/skein/worker/key.pem';
    await hosts.run('worker-2.internal', `chmod 644 ${key}`);
    const open = await doctor('worker-2.internal');
    await hosts.run('worker-2.internal', `chmod 600 ${key}`);
    expect([open.code, open.of['certificates']]).toEqual([1, expect.stringContaining('can be read by every user')]);
    // A host whose port something else holds, and that reaches no etcd.
    const { stdout } = await hosts.run(
      'worker-2.internal',
      `set -a; . /etc/skein/cluster.env; . /etc/skein/worker.env
       export ETCD_ENDPOINTS=https://nobody.internal:2379 SKEIN_WORKER_PORT=7000
       node -e 'require("net").createServer().listen(7000, () => console.error("holds the port"))' 2> /run/holder.log & holder=$!
       until grep -q holds /run/holder.log; do sleep 0.1; done
       skein doctor --json || true
       kill $holder`,
    );
    expect(stdout).toContain('port 7000');
    expect(stdout).toMatch(/"check":"etcd","state":"failed"/);
  },
  120_000,
);

test.skipIf(isSkipped)(
  'the commands of a new key of stored secrets bring it to both catalogs; the command without steps refuses',
  async () => {
    const keyFile = 'export SKEIN_CLUSTER_SECRETS_KEY_FILE=/etc/skein/secrets-key/secrets-key';
    const alone = await operator(`${keyFile}\nskein admin secrets rotate`);
    expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining('2 catalogs run')]);
    expect(await runBlocks(sectionOf('A new key'))).toContain('secrets are encrypted with a new key');
    const digest = async (host: string) =>
      (
        await hosts.run(
          host,
          'sha256sum < /etc/skein/secrets-key/secrets-key; wc -l < /etc/skein/secrets-key/secrets-key',
        )
      ).stdout;
    const digests = await Promise.all([OPERATOR, 'catalog-1.internal', 'catalog-2.internal'].map(digest));
    expect(new Set(digests).size).toBe(1);
    expect(digests[0]).toMatch(/\n2\n$/);
  },
  120_000,
);

test.skipIf(isSkipped)(
  'the commands of a rolling restart replace every process, under reads and writes that see retryable errors at most',
  async () => {
    const before = await status();
    load?.measure();
    await runBlocks(sectionOf('Rolling restart').slice(0, 1));
    const after = await status();
    expect(after.problems).toEqual([]);
    expect(after.members).toHaveLength(before.members.length);
    const started = new Map(before.members.map(({ kind, name, started: at }) => [`${kind} ${name}`, at]));
    for (const { kind, name, started: at } of after.members) {
      expect(Date.parse(at), name).toBeGreaterThan(Date.parse(started.get(`${kind} ${name}`) ?? ''));
    }
    expect([...(load?.errors.keys() ?? [])].filter((code) => !RETRYABLE.includes(code))).toEqual([]);
  },
  400_000,
);

test.skipIf(isSkipped)(
  'a restart stops at the first process that is not started again, and says so; the others stay',
  async () => {
    // The supervisor of the first worker is gone, and its process lives.
    const { members } = await status();
    const worker = members.find(({ kind }) => kind === 'worker')?.name ?? '';
    await hosts.run(`${worker}.internal`, 'kill -9 $(cat /run/skein-worker.pid)');
    const done = await operator('skein cluster restart --kind worker --wait 5s');
    expect(done.code).toBe(1);
    expect(done.stdout + done.stderr).toContain(`worker ${worker} is not ready: it was not started again`);
    const after = await status();
    expect(
      after.members
        .filter(({ kind }) => kind === 'worker')
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(members.flatMap(({ kind, name }) => (kind === 'worker' && name !== worker ? [name] : [])).toSorted());
    const others = (all: Status['members']) =>
      all.filter(({ name }) => name !== worker).map(({ name, started }) => name + started);
    expect(others(after.members).toSorted()).toEqual(others(members).toSorted());
    await hosts.run(`${worker}.internal`, 'systemctl start skein-worker');
    await expect.poll(async () => (await status()).members.length, { timeout: READY_MS }).toBe(members.length);
    const refused = await hosts.run(
      'worker-2.internal',
      'set -a; . /etc/skein/cluster.env; . /etc/skein/worker.env; skein cluster restart',
    );
    expect(refused.code).not.toBe(0);
  },
  200_000,
);

test.skipIf(isSkipped)(
  'skein worker drain NAME from the operator’s machine ends its process, which comes back',
  async () => {
    const startedOf = async (): Promise<string | undefined> =>
      (await status()).members.find(({ name }) => name === 'worker-2')?.started;
    const before = await startedOf();
    expect(await operator('skein worker drain worker-2')).toMatchObject({ code: 0, stdout: 'worker-2 is drained\n' });
    await expect.poll(async () => (await startedOf()) ?? before, { timeout: READY_MS }).not.toBe(before);
  },
  120_000,
);

test.skipIf(isSkipped)(
  'the commands of a rolling upgrade bring in another release, under reads and writes that see retryable errors at most',
  async () => {
    await hosts.release('0.1.1', await nextRelease('0.1.1'));
    await expect.poll(async () => (await status()).problems, { timeout: READY_MS }).toEqual([]);
    load?.measure();
    await runBlocks(sectionOf('Rolling restart').slice(1));
    const { members, problems } = await status();
    expect(problems).toEqual([]);
    expect(members).toHaveLength(7);
    for (const { name, release } of members) expect(release, name).toMatch(/^0\.1\.1\+/);
    expect([...(load?.errors.keys() ?? [])].filter((code) => !RETRYABLE.includes(code))).toEqual([]);
  },
  400_000,
);

/** The sources of today as a release of another version. */
async function nextRelease(version: string): Promise<string> {
  const folder = join(hosts.folder, 'sources');
  await mkdir(folder);
  for (const part of [
    'proto',
    'shared',
    'catalog',
    'coordinator',
    'worker',
    'cli',
    'monitoring',
    'deploy',
    'workload.example.yaml',
  ])
    await cp(join(projectRoot, part), join(folder, part), { recursive: true });
  await symlink(join(projectRoot, 'node_modules'), join(folder, 'node_modules'));
  const project = await readFile(join(projectRoot, 'package.json'), 'utf8');
  await writeFile(join(folder, 'package.json'), project.replace(/"version": "[^"]*"/, `"version": "${version}"`));
  return folder;
}

test.skipIf(isSkipped)(
  'every acknowledged row is there once, and none was invented',
  async () => {
    await load?.stop();
    expect(load?.writes).toBeGreaterThan(20);
    expect(await load?.faults()).toEqual([]);
  },
  60_000,
);

test.skipIf(isSkipped)(
  'the commands of backup and restore bring back the moment between the two copies, to the row',
  async () => {
    await load?.stop();
    const [archive, backup, stop, restore, start] = sectionOf('Backup and restore');
    if (
      archive === undefined ||
      backup === undefined ||
      stop === undefined ||
      restore === undefined ||
      start === undefined
    )
      throw new Error('five blocks');
    await runBlocks([archive]);
    const count = async (): Promise<unknown> => {
      const end = await client.ask(`SELECT count(*) FROM ${TABLE}`);
      return 'rows' in end ? end.rows[0]?.[0] : end.code;
    };
    // Connections that Postgres's restart has broken are found one by one; what they fail has not happened.
    const done = (sql: string) =>
      expect.poll(() => client.ask(sql), { timeout: READY_MS }).toMatchObject({ rows: expect.anything() });
    await expect.poll(count, { timeout: READY_MS }).toBeTypeOf('number');
    const before = await count();
    await runBlocks([backup]);
    await done(`INSERT INTO ${TABLE} VALUES (-1), (-2)`);
    await done('CREATE TABLE lake."default".later (n BIGINT)');
    expect(await count()).toBe(Number(before) + 2);
    await runBlocks([stop, restore, start]);
    await expect.poll(count, { timeout: READY_MS }).toBe(before);
    await expect
      .poll(() => client.ask('SELECT * FROM lake."default".later'), { timeout: READY_MS })
      .toMatchObject({ code: 'TABLE_NOT_FOUND' });
    await done(`INSERT INTO ${TABLE} VALUES (-3)`);
    expect(await count()).toBe(Number(before) + 1);
  },
  300_000,
);
