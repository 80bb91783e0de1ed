import type { Pages } from '../../catalog-client/pages.ts';
import type { Stage } from '../../catalog-client/stage-catalog.ts';
import { stageName } from '../../stage/open-stage.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { formPages, type RowForm } from '../../operation/row-form.ts';
import { withNamePosition } from '../../operation/with-name-position.ts';
import { matchesLike, takeLike } from '../like.ts';
import { rowsCommand } from '../rows-command.ts';

/** `schema` is null for the session's. */
type ShowStages = { readonly schema: ObjectName | null; readonly like: string | null };

/** `SHOW STAGES [FROM [catalog.]schema] [LIKE pattern]` */
export const showStages = rowsCommand<ShowStages>({
  words: ['SHOW STAGES'],
  queryType: 'show',
  timeout: 'coordinator',
  parse(reader) {
    reader.words(2);
    const schema = reader.takeWord('FROM') || reader.takeWord('IN') ? reader.name('a schema', 2) : null;
    const like = takeLike(reader);
    reader.end();
    return { schema, like };
  },
  action: () => 'stage.list',
  async rows({ schema, like }, context) {
    // The schema of a stage with any name.
    const found = stageName({ name: [...(schema?.parts ?? []), ''] }, context);
    const { catalog, of } = await (schema === null ? found : withNamePosition(schema, found));
    const stages = context.catalog.stages.list(context.caller.claims, catalog, of?.namespace ?? []);
    return formPages(COLUMNS, matching(stages, like));
  },
});

const COLUMNS: RowForm<Stage> = {
  stage_name: ['VARCHAR', (one) => one.name],
  owner: ['VARCHAR', ({ properties }) => properties['owner'] ?? null],
  comment: ['VARCHAR', ({ properties }) => properties['comment'] ?? null],
  // As it was given, such as `10m`.
  upload_ttl: ['VARCHAR', ({ properties }) => properties['upload_ttl'] ?? null],
  created_at: ['TIMESTAMP WITH TIME ZONE', ({ createdAtMs }) => new Date(createdAtMs).toISOString()],
};

async function* matching(pages: Pages<Stage>, like: string | null): Pages<Stage> {
  for await (const stages of pages) yield stages.filter(({ name }) => matchesLike(name, like));
}
