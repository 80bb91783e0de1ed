import { expect, test } from 'vitest';
import type { Principal } from '#shared/authorization/principal.ts';
import type { TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { NO_CREDENTIAL } from '#shared/storage/credential.ts';
import type { LoadedTable, TableName } from '../resolver/table-source.ts';
import type { ViewDefinition } from '../resolver/view/view-definition.ts';
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
  metadata: METADATA,
  allowedRoots: ['file:///w'],
  actions: new Set(['table.select']),
  policies: [],
  policyVersion: '',
  credential: NO_CREDENTIAL,
  ...changes,
});
const MISSING: LoadedTable = { kind: 'missing', code: 'TABLE_NOT_FOUND' };

/**
 * The answers after the catalog has said these of table `t`, one after the other; documents of `kept` versions are there, and the lease
 * holds for what was asked in period 1.
 */
function answersAfter(said: readonly LoadedTable[], kept = ['v1', 'v2', 'view'], period = 0): LastAnswers {
  const documents = (version: string) => (version === 'view' ? VIEW : METADATA);
  const answers = new LastAnswers({ holds: (asked) => asked?.period === 1 }, (_tenant, _name, version) =>
    kept.includes(version) ? documents(version) : undefined,
  );
  const question = { principal: ana, names: [name('t')], asked: { period, ms: 0 } };
  for (const table of said) answers.keep(question, [table]);
  return answers;
}

const recall = (answers: LastAnswers, now: LoadedTable = found('v1'), principal = ana) =>
  answers.recall(principal, [name('t')], () => Promise.resolve([now]));

test('a table that was the same twice is recalled, as it was', () => {
  expect(recall(answersAfter([found('v1'), found('v1')]))?.tables).toEqual([found('v1')]);
  const view = { kind: 'view', name: name('t'), version: 'view', view: VIEW, actions: new Set<string>() } as const;
  expect(recall(answersAfter([view, view]))?.tables).toEqual([view]);
});

test.each<[string, LastAnswers]>([
  ['not known', answersAfter([])],
  ['seen once', answersAfter([found('v1')])],
  ['changed by the last answer', answersAfter([found('v1'), found('v1'), found('v2')])],
  ['gone meanwhile', answersAfter([found('v1'), MISSING, found('v1')])],
  ['without its document', answersAfter([found('v1'), found('v1')], [])],
])('a table that is %s is not', (_what, answers) => {
  expect(recall(answers)).toBeNull();
});

test('what one principal saw is not recalled for another, nor for the same one with another token', () => {
  const answers = answersAfter([found('v1'), found('v1')]);
  expect(recall(answers, found('v1'), { ...ana })).toBeNull();
});

test.each<[string, LoadedTable, boolean]>([
  ['the same', found('v1'), true],
  ['another version', found('v2'), false],
  ['dropped', MISSING, false],
  ['under another name', found('v1', { name: name('T') }), false],
  ['less that the principal may do', found('v1', { actions: new Set() }), false],
  ['other rights', found('v1', { actions: new Set(['table.describe']) }), false],
  ['another policy', found('v1', { policyVersion: '2' }), false],
  ['other roots', found('v1', { allowedRoots: ['file:///w', 'file:///x'] }), false],
])('it is current when the catalog says %s: %#', async (_what, now, areCurrent) => {
  expect(await recall(answersAfter([found('v1'), found('v1')]), now)?.areCurrent).toBe(areCurrent);
});

test('nobody is asked while the lease on an answer lasts', () => {
  const nobody = () => Promise.reject(new Error('asked'));
  const answers = answersAfter([found('v1'), found('v1')], ['v1'], 1);
  expect(answers.recall(ana, [name('t')], nobody)).toEqual({ tables: [found('v1')], areCurrent: true });
});
