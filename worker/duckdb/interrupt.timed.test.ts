import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Instance, type Connection } from './instance.ts';
import { destroyChunk, PreparedStatement, Statement } from './statement.ts';

let instance: Instance;
let connection: Connection;

beforeEach(() => {
  instance = Instance.open({ threads: '1' });
  connection = instance.connect();
  connection.run('SET errors_as_json = true');
});

afterEach(() => {
  connection[Symbol.dispose]();
  instance[Symbol.dispose]();
});

function runToEnd(sql: string): void {
  using prepared = new PreparedStatement(connection, sql);
  using statement = new Statement(prepared);
  while (statement.step() !== 'ready');
  for (let chunk = statement.fetch(); chunk !== undefined; chunk = statement.fetch()) destroyChunk(chunk);
}

test.each([
  ['between steps', 'SELECT sum(a.i * b.i) FROM range(1000000) a(i), range(100000) b(i)'],
  ['in one long fetch', 'SELECT a.i FROM range(1000000) a(i), range(100000) b(i) WHERE a.i + b.i < 0'],
])('is interrupted by another thread within 200 ms: %s', async (_where, sql) => {
  const library = new URL('instance.ts', import.meta.url).href;
  // When the interrupt came, in milliseconds since 1970.
  const interruptedAtMs = new BigInt64Array(new SharedArrayBuffer(8));
  const interrupter = new Worker(
    `const { parentPort, workerData: { address, interruptedAtMs } } = require('node:worker_threads');
     import(${JSON.stringify(library)}).then(({ interruptConnection }) => {
       parentPort.postMessage('ready');
       setTimeout(() => {
         interruptedAtMs[0] = BigInt(Date.now());
         interruptConnection(address);
       }, 300);
     });`,
    { eval: true, workerData: { address: connection.address, interruptedAtMs } },
  );
  await new Promise((resolve) => interrupter.once('message', resolve));
  expect(() => runToEnd(sql)).toThrow(expect.objectContaining({ code: 'QUERY_CANCELLED' }));
  expect(interruptedAtMs[0]).toBeGreaterThan(0n);
  expect(Date.now() - Number(interruptedAtMs[0])).toBeLessThan(200);
  await interrupter.terminate();
});
