import { expect, test } from 'vitest';
import type { Principal } from '#shared/authorization/principal.ts';
import type { TableMetadata } from '#shared/iceberg/table-metadata.ts';
import type { StoreCredential } from '#shared/storage/credential.ts';
import { FILE_CREDENTIAL } from '#test/support/file-credential.ts';
import { keyIsReplaced } from './replaced-keys.ts';
import type { LoadedTable, TableName } from '../binding/table-source.ts';
import type { ViewDefinition } from '../binding/view-definition.ts';
import { LastAnswers } from './last-answers.ts';

const name = (table: string): TableName => ({ catalog: 'lake', namespace: ['s'], table });
const ana = { tenant: 'acme' } as Principal;
const METADATA = { tableUuid: 'u' } as TableMetadata;
const VIEW = { representations: [] } as unknown as ViewDefinition;

type Found = Extract<LoadedTable, { kind: 'found' }>;
const found = (version: string, changes: Partial<Found> = {}): Found => ({
  kind: 'found',
  name: name('t'),
  version,
  oid: 16_384,
  metadata: METADATA,
  allowedRoots: ['file:///w'],
  actions: new Set(['table.select']),
  policies: [],
  policyVersion: '',
  credential: FILE_CREDENTIAL,
  ...changes,
});
const MISSING: LoadedTable = { kind: 'missing', code: 'TABLE_NOT_FOUND' };

/**
 * The answers after the catalog has said these of table `t`, one after the other; documents of `kept` versions are there, and the lease
 * holds for what was asked in period 1.
 */
function answersAfter(said: readonly LoadedTable[], kept = ['v1', 'v2', 'view'], period = 1): LastAnswers {
  const documents = (version: string) => (version === 'view' ? VIEW : METADATA);
  const answers = new LastAnswers({ holds: (asked) => asked?.period === 1 }, (_tenant, _name, version) =>
    kept.includes(version) ? documents(version) : undefined,
  );
  const question = { principal: ana, names: [name('t')], asked: { period, ms: 0 } };
  for (const table of said) answers.keep(question, [table]);
  return answers;
}

const leased = (answers: LastAnswers, principal = ana) => answers.leased(principal, [name('t')]);

test('while the lease lasts, a table whose version was the same twice is given as the catalog described it last', () => {
  expect(leased(answersAfter([found('v1'), found('v1')]))).toEqual([found('v1')]);
  const view = {
    kind: 'view',
    name: name('t'),
    version: 'view',
    oid: 16_392,
    view: VIEW,
    actions: new Set<string>(),
  } as const;
  expect(leased(answersAfter([view, view]))).toEqual([view]);
  const lessAllowed = found('v1', { actions: new Set(['table.describe']), policyVersion: '2' });
  expect(leased(answersAfter([found('v1'), lessAllowed]))).toEqual([lessAllowed]);
});

test.each<[string, LastAnswers]>([
  ['not known', answersAfter([])],
  ['seen once', answersAfter([found('v1')])],
  ['changed by the last answer', answersAfter([found('v1'), found('v1'), found('v2')])],
  ['gone meanwhile', answersAfter([found('v1'), MISSING, found('v1')])],
  ['without its document', answersAfter([found('v1'), found('v1')], [])],
  ['without a lease', answersAfter([found('v1'), found('v1')], ['v1'], 0)],
])('of a table that is %s the catalog is asked', (_what, answers) => {
  expect(leased(answers)).toBeNull();
});

test('a table whose key ends soon, or that another came for, is asked for again', () => {
  const key = (expiresAtMs: number | null) =>
    ({ kind: 'gcs', token: 'token', expiresAtMs, endpoint: null }) as const satisfies StoreCredential;
  const given = (credential: StoreCredential) => leased(answersAfter([found('v1'), found('v1', { credential })]));
  const lasting = key(Date.now() + 3_600_000);
  expect(given(lasting)).toHaveLength(1);
  expect(given(key(null))).toHaveLength(1);
  expect(given(key(Date.now() + 60_000))).toBeNull();
  keyIsReplaced(lasting);
  expect(given(lasting)).toBeNull();
  expect(given({ ...lasting })).toHaveLength(1);
});

test('what one principal saw is not given to another, nor to the same one with another token', () => {
  const answers = answersAfter([found('v1'), found('v1')]);
  expect(leased(answers, { ...ana })).toBeNull();
});

test('a lease is asked for only when an answer came twice in the same way', () => {
  const asked: (number | undefined)[] = [];
  const answers = new LastAnswers(
    {
      holds: (at) => {
        asked.push(at?.period);
        return false;
      },
    },
    () => METADATA,
  );
  const question = { principal: ana, names: [name('t')], asked: null };
  for (const version of ['v1', 'v2', 'v2']) {
    answers.keep(question, [found(version)]);
    expect(leased(answers)).toBeNull();
  }
  expect(asked).toEqual([undefined]);
});
