import type { RefreshWay } from '../../refresh/refresh-way.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { paged, textResult } from '../../operation/answer.ts';
import { rowsCommand } from '../rows-command.ts';
import { printTableName } from '../table/table-place.ts';
import { loadMaterializedView } from '../view/load-materialized-view.ts';
import { planRefresh } from './refresh.ts';

/** `EXPLAIN REFRESH MATERIALIZED VIEW name`: how a refresh would bring it up to date, and why */
export const explainRefresh = rowsCommand<{ readonly name: ObjectName }>({
  words: ['EXPLAIN REFRESH MATERIALIZED VIEW'],
  queryType: 'explain',
  timeout: 'session',
  parse(reader) {
    reader.words(4);
    const name = reader.name('a materialized view', 3);
    reader.end();
    return { name };
  },
  action: () => 'table.select',
  async rows({ name }, context) {
    const { view, way } = await planRefresh(await loadMaterializedView(name, context), context, name.position);
    const lines = [`Refresh ${printTableName(view.name)}`, `  ${printWay(way)}`];
    return paged(
      textResult(
        ['plan'],
        lines.map((line) => [line]),
      ),
    );
  },
});

function printWay(way: RefreshWay): string {
  if (way.kind === 'current') return 'up to date: no table has changed';
  if (way.kind === 'full') return `full: ${way.reason}`;
  const { shape, snapshots, table } = way;
  const added = `the rows of ${snapshots} new ${snapshots === 1 ? 'snapshot' : 'snapshots'} of ${table}`;
  if (shape.kind === 'append') return `incremental: appends ${added}`;
  const hasAverages = shape.columns.some(({ kind }) => kind === 'average');
  return `incremental: merges ${added}${hasAverages ? '; averages by the sums and counts that are kept of them' : ''}`;
}
