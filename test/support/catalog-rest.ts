import { afterAll, beforeAll } from 'vitest';
import { NS, SCHEMA } from './catalog-requests.ts';
import { startTestCatalog, type RestAnswer, type TestCatalog } from './catalog.ts';

let started: TestCatalog;
beforeAll(async () => {
  started = await startTestCatalog();
});
afterAll(() => started[Symbol.asyncDispose]());

/** The catalog of the test file that imports this: each file runs in a process of its own. */
export const testCatalog = (): TestCatalog => started;
export const get = (path: string, headers: Record<string, string> = {}): Promise<RestAnswer> =>
  started.rest('GET', path, { headers });
export const post = (path: string, body: unknown): Promise<RestAnswer> => started.rest('POST', path, { body });
export const createTable = (name: string, more: object = {}): Promise<RestAnswer> =>
  post(`${NS}/default/tables`, { name, schema: SCHEMA, ...more });
