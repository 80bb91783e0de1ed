import { randomUUID } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { must } from '#shared/must.ts';
import { LARGE_COMMITS } from './corpus/large-commits.ts';
import { LARGE_STATEMENTS } from './corpus/large-statements.ts';
import { HOSTILE_FRAMES, sendFrames } from './corpus/hostile-frames.ts';
import { HOSTILE_TABLES } from './corpus/hostile-tables.ts';
import { between, HOSTILE_STATEMENTS, oneOf, STUCK_STATEMENTS } from './corpus/hostile-statements.ts';
import { catalogPost } from '#test/support/hostile-table.ts';
import { seededRandom } from '#test/chaos/faults.ts';

/** The program of the attackers' thread. It is a thread of its own, so that their work does not delay the measuring clients. */

export type AttackerOptions = {
  readonly seed: number;
  readonly attackers: number;
  /** `honest` attackers send heavy but regular requests: their effect is the cost of sharing without an attack. */
  readonly kind: 'hostile' | 'honest';
  readonly queryUrl: string;
  readonly catalogUrl: string;
  /** Tokens of several principals of one tenant: the first has every right, the others have fewer, or none. */
  readonly tokens: readonly string[];
  readonly catalog: string;
  /** A table in its namespace `default`. */
  readonly table: string;
  /** host:port of everything that listens, public or not. */
  readonly ports: readonly string[];
};

/** Number of the attackers' actions, by class; sent when they are told to stop. */
export type AttackCounts = Readonly<Record<string, number>>;

const options = workerData as AttackerOptions;
const counts: Record<string, number> = {};
const stop = new AbortController();

const ADMINISTRATOR = must(options.tokens[0], 'a principal attacks');
const POST = catalogPost(options.catalogUrl, options.catalog, ADMINISTRATOR);
/** Some of the tokens have few rights; requests with them must be refused. */
const tokenOf = (random: () => number): string => oneOf(random, options.tokens);

const ANSWER_BYTES_MAX = 2 ** 20;
const REQUEST_TIMEOUT_MS = 30_000;
const LARGE_BYTES_MAX = 2 ** 20;
/** Larger than what the catalog's main thread parses. */
const COMMIT_BYTES_MAX = 4 * 2 ** 20;

/** Long statements as a warehouse has them: sorts, joins and groups of millions of rows. */
const HONEST = [
  'SELECT max(h) FROM (SELECT hash(i) AS h FROM range(8000000) t(i) ORDER BY h OFFSET 1000)',
  'SELECT count(*) FROM (SELECT i % 1000000 AS k, sum(i) FROM range(20000000) t(i) GROUP BY k)',
  'SELECT count(*) FROM range(5000000) a(i) JOIN range(5000000) b(j) ON a.i = b.j WHERE hash(i) % 3 = 0',
] as const;

async function attack(random: () => number, draw: (random: () => number) => Act): Promise<void> {
  while (!stop.signal.aborted) {
    const [name, act] = draw(random);
    counts[name] = (counts[name] ?? 0) + 1;
    // Refusals, broken connections and timeouts are what an attacker gets.
    await act().catch(() => undefined);
  }
}

type Act = readonly [name: string, act: () => Promise<unknown>];

const honest = (random: () => number): Act => {
  const sql = oneOf(random, HONEST);
  return ['a heavy statement', () => ask(sql, 60_000)];
};

/** A wide table, as a loader makes one. */
const honestTable = (random: () => number): Act => ['a table', () => createTable(between(random, 100, 1_000))];

function statement(random: () => number): Act {
  const share = random();
  const timeoutMs = between(random, 300, 6_000);
  const token = tokenOf(random);
  if (share < 0.1) {
    const one = oneOf(random, STUCK_STATEMENTS);
    const sql = one.draw(random);
    // Sent by one principal: the joint cost of many accounts has no limit yet (docs/security.md).
    return [one.name, () => ask(sql, timeoutMs)];
  }
  if (share < 0.25) {
    const one = oneOf(random, LARGE_STATEMENTS);
    const sql = one.of(between(random, 1_000, LARGE_BYTES_MAX));
    return [one.name, () => ask(sql, timeoutMs, REQUEST_TIMEOUT_MS, token)];
  }
  const one = oneOf(random, HOSTILE_STATEMENTS);
  const sql = one.draw(random);
  const leavesMs = random() < 0.2 ? between(random, 10, 1_000) : REQUEST_TIMEOUT_MS;
  return [one.name, () => ask(sql, timeoutMs, leavesMs, token)];
}

function message(random: () => number): Act {
  const share = random();
  if (share < 0.25) return requestOfCatalog(random);
  if (share < 0.4) return largeCommit(random);
  if (share < 0.6) return hostileTable(random);
  const one = oneOf(random, HOSTILE_FRAMES);
  const port = oneOf(random, options.ports);
  return [one.name, () => sendFrames(port, one, random)];
}

function requestOfCatalog(random: () => number): Act {
  const namespace = String.fromCodePoint(between(random, 33, 0xd7ff)).repeat(between(random, 1, 300));
  const path = `/v1/${options.catalog}/namespaces`;
  let deep: unknown = 'x';
  for (let i = between(random, 1, 5_000); i > 0; i--) deep = [deep];
  return oneOf<Act>(random, [
    ['an odd namespace', () => call('POST', path, { namespace: [namespace] })],
    ['a name in a path', () => call('GET', `${path}/${encodeURIComponent(namespace)}/tables`)],
    ['a table of many columns', () => createTable(between(random, 1, 5_000))],
    ['a deep body', () => call('POST', `${path}/default/tables`, { name: 't', schema: deep })],
    ['a wrong grant', () => call('POST', '/v1/oauth/tokens', { grant_type: namespace })],
  ]);
}

function largeCommit(random: () => number): Act {
  const { name, method, path, of } = oneOf(random, LARGE_COMMITS);
  const named = (text: string): string =>
    text.replaceAll('{namespace}', 'default').replaceAll('{table}', options.table);
  const body = named(of(between(random, 1_000, COMMIT_BYTES_MAX)));
  const token = tokenOf(random);
  return [`a commit of ${name}`, () => send(method, `/v1/${options.catalog}${named(path)}`, body, token)];
}

/** Creates a table with hostile files, reads it with SQL, and often drops it with a purge of all files that its metadata names. */
function hostileTable(random: () => number): Act {
  const kind = oneOf(random, HOSTILE_TABLES);
  const table = `t_${randomUUID().replaceAll('-', '')}`;
  const path = `/v1/${options.catalog}/namespaces/default/tables/${table}?purgeRequested=true`;
  const timeoutMs = between(random, 300, 6_000);
  const isDropped = random() < 0.7;
  return [
    kind.name,
    async () => {
      await kind.make(POST, table, random).catch(() => undefined);
      await ask(`SELECT sum(a) FROM ${options.catalog}.default.${table} WHERE a > 0`, timeoutMs);
      if (isDropped) await call('DELETE', path);
    },
  ];
}

async function createTable(columns: number): Promise<void> {
  const fields = Array.from({ length: columns }, (_, id) => ({ id, name: `c${id}`, required: false, type: 'long' }));
  const path = `/v1/${options.catalog}/namespaces/default/tables`;
  await call('POST', path, { name: randomUUID(), schema: { type: 'struct', fields } });
}

async function ask(
  sql: string,
  timeoutMs: number,
  leavesMs = REQUEST_TIMEOUT_MS + timeoutMs,
  token = ADMINISTRATOR,
): Promise<void> {
  await discard(
    await fetch(`${options.queryUrl}/api/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ sql, timeout_ms: timeoutMs }),
      signal: AbortSignal.timeout(leavesMs),
    }),
  );
}

const call = (method: string, path: string, body?: unknown): Promise<void> =>
  send(method, path, body === undefined ? undefined : JSON.stringify(body), ADMINISTRATOR);

async function send(method: string, path: string, body: string | undefined, token: string): Promise<void> {
  await discard(
    await fetch(`${options.catalogUrl}${path}`, {
      method,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body }),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    }),
  );
}

/** Reads the head of an answer and closes the connection. */
async function discard({ body }: Response): Promise<void> {
  let bytes = 0;
  for await (const part of body ?? []) {
    bytes += (part as Uint8Array).length;
    if (bytes > ANSWER_BYTES_MAX) return;
  }
}

/** One attacker in four attacks the catalog or sends bytes that are no statement. */
const drawOf = (attacker: number): ((random: () => number) => Act) => {
  const isOther = attacker % 4 === 0;
  if (options.kind === 'honest') return isOther ? honestTable : honest;
  return isOther ? message : statement;
};

const running = Array.from({ length: options.attackers }, (_, i) => attack(seededRandom(options.seed + i), drawOf(i)));
parentPort?.once('message', () => {
  stop.abort();
  void Promise.all(running).then(() => parentPort?.postMessage(counts, []));
});
