import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { AdminClients } from '#test/support/admin-clients.ts';
import { startCluster, type QueryBody, type StartedCluster } from '#test/support/cluster.ts';
import { FlightClient } from '#test/support/flight-client.ts';
import { RESTARTS_SOON } from '#test/support/kill-service.ts';
import { startOtlpReceiver, type OtlpReceiver } from '#test/support/otlp-receiver.ts';
import { patience } from '#test/support/run/slowness.ts';

/**
 * Secrets of every kind go through a cluster whose catalog and coordinator are killed meanwhile, again and again. Afterwards they are looked
 * for in every file of the data directory, the pages and the write-ahead log of Postgres among them, and in logs, history, metrics and traces.
 */
const KILLS = 6;
const CHUNK_BYTES = 8 * 2 ** 20;
/** Signs by which secrets of one kind begin. */
const BEGIN_LENGTH = 5;

let folder: string;
let cluster: StartedCluster;
let collector: OtlpReceiver;
/** The secrets that were planted, by where. */
const planted = new Map<string, string>();
let count = 0;

/** A password of the policy that is nowhere else. */
function plant(where: string): string {
  count += 1;
  const secret = `Pl4nt-${randomBytes(9).toString('hex')}-${count}`;
  planted.set(`${where} ${count}`, secret);
  return secret;
}
/** A secret that an answer has shown. */
function shown(where: string, secret: unknown): string {
  count += 1;
  planted.set(`${where} ${count}`, String(secret));
  return String(secret);
}

beforeAll(async () => {
  collector = await startOtlpReceiver();
  folder = await mkdtemp(join(tmpdir(), 'skein-planted-'));
  const env = { ...RESTARTS_SOON, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, SKEIN_LOG_LEVEL: 'debug' };
  cluster = await startCluster({ dataDir: folder, workers: 1, env });
});
afterAll(async () => {
  await cluster?.stop();
  await collector?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
});

type Sent = QueryBody | 'lost';
/** The answer of a statement; a process that is killed meanwhile loses it. */
const send = async (sql: string, user?: string, parameters?: readonly string[]): Promise<Sent> => {
  try {
    const token = await cluster.token(user === undefined ? undefined : { user });
    return (await cluster.query(sql, { token, ...(parameters === undefined ? {} : { parameters: [...parameters] }) }))
      .body;
  } catch {
    return 'lost';
  }
};
const valueOf = (sent: Sent, column: string): unknown => {
  if (sent === 'lost' || sent.rows === undefined) return undefined;
  return sent.rows[0]?.[must(sent.columns, 'columns').indexOf(column)];
};
const privateKey = (mark: string): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString()
    // A line of its own that can be looked for.
    .replace('-----END', `${mark}\n-----END`);
const mark = (where: string): string => plant(where).replaceAll('-', '');
const flight = async (user: string, password: string): Promise<void> => {
  const url = must(cluster.ready.flight_sql_url, 'it serves Flight SQL');
  using client = new FlightClient(url, `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`);
  await client.query('SELECT 1').catch(() => undefined);
};

/** Invites somebody, and redeems the invitation twice. */
async function redeemed(user: string): Promise<void> {
  const token = valueOf(await send(`CREATE USER ${user}_i EMAIL '${user}_i@example.org'`), 'invitation_token');
  if (token === undefined) return;
  const invitation = shown('an invitation', token);
  await send(`REDEEM INVITATION '${invitation}' WITH PASSWORD '${plant('REDEEM')}'`);
  await send(`REDEEM INVITATION '${invitation}' WITH PASSWORD '${plant('REDEEM again')}'`);
}

/** Enrols an authenticator, which takes a sign-in by password, and shows a wrong code. */
async function enrolled(user: string): Promise<void> {
  const password = plant('of one who enrols');
  await send(`CREATE USER ${user} EMAIL '${user}@example.org' PASSWORD '${password}'`);
  const url = must(cluster.ready.flight_sql_url, 'it serves Flight SQL');
  using client = new FlightClient(url, `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`);
  const answer = await client.query('ALTER USER SELF ENROLL MFA TOTP').catch(() => undefined);
  if (answer === undefined) return;
  shown('the secret of an authenticator', answer.getChild('secret')?.get(0));
  await client.query(`ALTER USER SELF VERIFY MFA TOTP '000000'`).catch(() => undefined);
}

/** Statements and sign-ins that carry secrets, of which some are refused and some do not parse. */
async function round(i: number): Promise<void> {
  const user = `planted_${i}`;
  const password = plant('CREATE USER');
  const made = await send(`CREATE USER ${user} EMAIL '${user}@example.org' PASSWORD = '${password}'`);
  await Promise.all([
    send(`CREATE USER ${user}_p EMAIL '${user}_p@example.org' PASSWORD ? COMMENT ?`, undefined, [
      plant('a parameter'),
      'said',
    ]),
    redeemed(user),
    enrolled(`${user}_f`),
    send(`REDEEM INVITATION '${plant('no invitation')}' WITH PASSWORD '${plant('REDEEM of none')}'`),
    send(`ALTER USER ${user} SET PASSWORD = '${plant('ALTER USER')}' COMMENT = 'x' -- ${plant('a comment')}`),
    send(`CREATE WEBHOOK hook_${i} URL 'https://127.0.0.1:9/${mark('a URL')}' SECRET '${plant('SECRET')}' EVENTS ('')`),
    send(`CREATE WEBHOOK hook_${i}_w URL 'https://127.0.0.1:9/' SECRET '${plant('SECRET, refused')}' EVENTS (1)`),
    send(`CREATE SERVICE ACCOUNT bot_${i}`).then(() =>
      Promise.all([
        send(`ALTER SERVICE ACCOUNT bot_${i} ADD KEYPAIR KEY_ID 'k' PUBLIC_KEY '${privateKey(mark('a private key'))}'`),
        send(`ALTER SERVICE ACCOUNT bot_${i} ADD KEYPAIR KEY_ID 'k' PUBLIC_KEY ?`, undefined, [
          privateKey(mark('a private key as a parameter')),
        ]),
        send(`ALTER SERVICE ACCOUNT bot_${i} ADD KEYPAR PUBLIC_KEY ${privateKey(mark('a bare private key'))}`),
      ]),
    ),
    // None of these parses.
    send(`CREATE USER ${user}_w EMAIL 'w@example.org' PASWORD '${plant('a misspelt key')}'`),
    send(`CREATE USER ${user}_w PASSWORD ${plant('a bare word')}`),
    send(`ALTER USER ${user} SET PASSWORD = '${plant('a quote that is open')}`),
    send(`ALTER USER ${user} SET /* ${plant('an open comment')}`),
    send(`ALTER USR ${user} SET PASSWORD '${plant('a misspelt kind')}'`),
    send(`EXPLAIN CREATE USER ${user}_e EMAIL 'e@example.org' PASSWORD '${plant('EXPLAIN')}'`),
    send(`PREPARE p AS CREATE USER ${user}_e EMAIL 'e@example.org' PASSWORD '${plant('PREPARE')}'`),
    send(`SELECT 1; CREATE USER ${user}_e EMAIL 'e@example.org' PASSWORD '${plant('a second statement')}'`),
    flight(user, plant('a wrong password')),
    flight(plant('a password typed as a name'), plant('of nobody')),
    flight(user, `skein_pat_${plant('no token')}`),
  ]);
  if (made === 'lost' || made.error !== undefined) return;
  const own = shown('a token of a user', (await cluster.token({ user }).catch(() => undefined)) ?? randomUUID());
  const pat = valueOf(await send(`CREATE PERSONAL ACCESS TOKEN t_${i}`, user), 'token');
  if (pat !== undefined) {
    const token = shown('a personal access token', pat);
    await flight(user, token);
    await fetch(`${cluster.catalogUrl}/v1/oauth/tokens`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'pat', client_id: 'service-sql', pat: token }),
    }).catch(() => undefined);
  }
  await send(
    `ALTER USER SELF SET PASSWORD '${plant('a new own one')}' OLD PASSWORD '${plant('a wrong old one')}'`,
    user,
  );
  await fetch(`${cluster.queryUrl}/api/query`, {
    method: 'POST',
    headers: { authorization: `Bearer ${own}${plant('a forged token')}`, 'content-type': 'application/json' },
    body: JSON.stringify({ sql: 'SELECT 1' }),
  }).catch(() => undefined);
}

test(
  'planted secrets are in no file, log, history, metric or trace, whatever was killed',
  { timeout: 420_000 },
  async () => {
    const clients = new AdminClients(cluster);
    const client = await clients.admin('create', 'planted_client');
    shown('the secret of a client', client.client_secret);
    shown('a token of a client', await clients.tokenOf(client));
    await round(0);
    let i = 1;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const running = [round(i), round(i + 1)];
      i += 2;
      await sleep(100 + 150 * kill);
      process.kill(await cluster.pidOf(kill % 2 === 0 ? 'catalog' : 'coordinator'), 'SIGKILL');
      await Promise.all(running);
      // All is there again.
      await expect.poll(() => send('SELECT 1'), { timeout: patience(30_000) }).toMatchObject({ rows: [[1]] });
    }
    await round(i);
    const history = await cluster.sql('SELECT * FROM (SHOW QUERY HISTORY LIMIT 500)');
    const pages = [`${cluster.catalogUrl}/metrics`, `${cluster.queryUrl}/metrics`];
    const metrics = await Promise.all(
      [...pages, ...cluster.workers().map(({ metricsUrl }) => metricsUrl)].map(async (url) =>
        (await fetch(url)).text(),
      ),
    );
    // A text that nobody hides shows that the search finds what is kept.
    const visible = `open-${randomBytes(9).toString('hex')}`;
    await cluster.sql(`SELECT '${visible}'`);
    const kept = {
      history: JSON.stringify(history),
      metrics: metrics.join('\n'),
      traces: JSON.stringify(collector.spans),
    };
    const exported = await cluster.cliOk(['admin', 'audit', 'export']);
    expect(collector.spans.length).toBeGreaterThan(50);
    expect(history.length).toBeGreaterThan(100);
    await cluster.stop();

    const secrets = [...planted].map(([where, secret]) => [where, secret] as const);
    expect(secrets.length).toBeGreaterThan(250);
    expect(secrets.some(([where]) => where.startsWith('the secret of an authenticator'))).toBe(true);
    for (const [what, text] of Object.entries({ ...kept, log: cluster.log, audit: exported })) {
      expect([what, secrets.filter(([, secret]) => text.includes(secret))]).toEqual([what, []]);
    }
    expect(kept.history).toContain('planted_1');
    expect(exported).toContain('"planted_0"');

    const found = await inFiles(folder, [...secrets.map(([, secret]) => secret), visible, 'planted_0']);
    const whose = new Map(secrets.map(([where, secret]) => [secret, where]));
    const leaks = [...found].flatMap(([secret, files]) => (whose.has(secret) ? [[whose.get(secret), files]] : []));
    // The addresses of webhooks are stored, and shown to tenant_admins.
    expect(leaks.filter(([where]) => !String(where).startsWith('a URL'))).toEqual([]);
    for (const there of [visible, 'planted_0']) {
      const files = must(found.get(there), there);
      expect(files.some((file) => file.includes('/base/'))).toBe(true);
      expect(files.some((file) => file.includes('/pg_wal/'))).toBe(true);
    }
  },
);

/** The files below a folder that have one of the texts, by text. */
async function inFiles(root: string, texts: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>();
  const wanted = texts.map((text) => [text, Buffer.from(text)] as const);
  // Most secrets begin alike: where none begins, none of them has to be looked for.
  const alike = Map.groupBy(wanted, ([text]) => text.slice(0, BEGIN_LENGTH));
  const overlap = Math.max(...wanted.map(([, bytes]) => bytes.length));
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    await using file = await open(path);
    const buffer = Buffer.alloc(CHUNK_BYTES + overlap);
    let kept = 0;
    for (;;) {
      const { bytesRead } = await file.read(buffer, kept, CHUNK_BYTES);
      if (bytesRead === 0) break;
      const chunk = buffer.subarray(0, kept + bytesRead);
      const begun = [...alike].filter(([begin]) => chunk.includes(begin)).flatMap(([, group]) => group);
      for (const [text, bytes] of begun) {
        const files = found.get(text) ?? [];
        if (files.at(-1) !== path && chunk.includes(bytes)) found.set(text, [...files, path]);
      }
      kept = Math.min(overlap, chunk.length);
      buffer.copy(buffer, 0, chunk.length - kept, chunk.length);
    }
  }
  return found;
}
