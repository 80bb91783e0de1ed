import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { COMMANDS, goalOf, judge, TARGETS } from '../targets.ts';
import { withFigures } from './figure-table.ts';

const page = (rows: string): string =>
  `# Figures\n<!-- figures: npm run bench -- report -->\n${rows}<!-- end of figures -->\nMore.\n`;
const first = must(TARGETS[0], 'a target');
const second = must(TARGETS[1], 'a target');

test('what was measured replaces its row, the others stay, and every target has a row', () => {
  const judged = judge({ 'tpch-sf1': { total: { skein: [{ mode: 'default', ratio: 0.8249 }] } } });
  const old = `| \`x\` | ${first.what} | 2.00 | <= 1 | 2026-01-01 |\n| \`x\` | ${second.what} | 3.00 | <= 1 | 2026-01-02 |\n| \`x\` | gone | 4.00 | <= 1 | 2026-01-02 |\n`;
  const lines = withFigures(page(old), judged, '2026-11-27').split('\n');
  expect(lines.slice(2, 6)).toEqual([
    '| `npm run bench --` | figure | measured | goal | day |',
    '|---|---|---|---|---|',
    `| \`tpch\` | ${first.what} | 0.82 | <= 1.05 | 2026-11-27 |`,
    `| \`tpch --distributed\` | ${second.what} | 3.00 | <= 1.2 | 2026-01-02 |`,
  ]);
  const last = must(TARGETS.at(-1), 'a target');
  expect(lines).toContain(`| \`${COMMANDS[last.result]}\` | ${last.what} | – | ${goalOf(last)} | – |`);
  expect(lines.join('\n')).not.toContain('gone');
  expect(lines.slice(-3)).toEqual(['<!-- end of figures -->', 'More.', '']);
});

test('a page without the marks is refused', () => {
  expect(() => withFigures('# Figures', [], '2026-11-27')).toThrow('the page lacks');
});

test('docs/performance.md has a row for each target, with its goal', async () => {
  const text = await readFile(join(import.meta.dirname, '../../docs/performance.md'), 'utf8');
  expect(withFigures(text, [], '2026-11-27')).toBe(text);
});

test('no two targets have the same words', () => {
  expect(new Set(TARGETS.map(({ what }) => what)).size).toBe(TARGETS.length);
});
