import { expect, test, vi } from 'vitest';
import { SkeinError, type ErrorCode } from '#shared/error.ts';
import { tenantId } from '#shared/id.ts';
import type { Json } from '#shared/json.ts';
import type { CatalogClient } from './catalog-client.ts';
import { changeCatalog, SETTLE_MS } from './change-catalog.ts';

const OPERATION = { id: 'dropTable', params: {} };

/** Makes a change through a catalog that answers with these, the last one again and again; returns how it ended, and the keys. */
async function change(
  ...answers: readonly (ErrorCode | 'done')[]
): Promise<readonly [unknown, readonly string[], number]> {
  const keys: string[] = [];
  let begun = 0;
  const runOperation = (_principal: unknown, key: string): Promise<Json> => {
    const answer = answers[Math.min(keys.length, answers.length - 1)] ?? 'done';
    keys.push(key);
    return answer === 'done' ? Promise.resolve('done') : Promise.reject(new SkeinError(answer, answer));
  };
  const context = {
    catalog: { runOperation } as unknown as CatalogClient,
    caller: { claims: { tenant: tenantId('t') } as never },
    beginCommit: () => void (begun += 1),
  };
  const ended = await changeCatalog(context, OPERATION).catch((error: unknown) => SkeinError.of(error).code);
  return [ended, keys, begun];
}

test('a change whose answer is lost is sent again under its key', async () => {
  const [ended, keys, begun] = await change('CATALOG_UNAVAILABLE', 'COMMIT_STATE_UNKNOWN', 'INTERNAL_ERROR', 'done');
  expect([ended, keys.length, new Set(keys).size, begun]).toEqual(['done', 4, 1, 1]);
});

test('a refusal is final, also after a lost answer', async () => {
  expect((await change('TABLE_EXISTS'))[0]).toBe('TABLE_EXISTS');
  const [ended, keys] = await change('CATALOG_UNAVAILABLE', 'TABLE_NOT_FOUND');
  expect([ended, keys.length]).toEqual(['TABLE_NOT_FOUND', 2]);
});

test('a catalog that never answers leaves the outcome unknown', async () => {
  const now = vi.spyOn(performance, 'now');
  const startMs = performance.now();
  now
    .mockReturnValueOnce(startMs)
    .mockReturnValueOnce(startMs)
    .mockReturnValue(startMs + SETTLE_MS);
  const [ended, keys] = await change('CATALOG_UNAVAILABLE');
  now.mockRestore();
  expect([ended, keys.length]).toEqual(['COMMIT_STATE_UNKNOWN', 2]);
});
