import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { AUDIT_EVENTS } from './audit-store.ts';

test('docs/security.md lists every event of the audit log, and no other', () => {
  const [, section = ''] = readFileSync('docs/security.md', 'utf8').split('### Events of the audit log\n');
  const [table = ''] = section.split('\n### ');
  const listed = [...table.matchAll(/^\| ((?:`\w+`(?:, )?)+) \|/gm)].flatMap(([, names = '']) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
  );
  expect(listed.toSorted((a, b) => a.localeCompare(b))).toEqual(
    [...AUDIT_EVENTS].toSorted((a, b) => a.localeCompare(b)),
  );
});
