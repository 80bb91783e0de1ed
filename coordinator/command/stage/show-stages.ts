import type { Pages } from '../../catalog-client/pages.ts';
import type { Stage } from '../../catalog-client/stage-catalog.ts';
import { stageName } from '../../stage/open-stage.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { pagedTextResult } from '../../operation/answer.ts';
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
    return pagedTextResult(Object.keys(COLUMNS), rowsOf(stages, like));
  },
});

const COLUMNS = {
  stage_name: (one) => one.name,
  owner: ({ properties }) => properties['owner'] ?? null,
  comment: ({ properties }) => properties['comment'] ?? null,
  upload_ttl: ({ properties }) => properties['upload_ttl'] ?? null,
  created_at: ({ createdAtMs }) => new Date(createdAtMs).toISOString(),
} as const satisfies Readonly<Record<string, (stage: Stage) => string | null>>;

async function* rowsOf(pages: Pages<Stage>, like: string | null): Pages<readonly (string | null)[]> {
  for await (const stages of pages) {
    yield stages
      .filter(({ name }) => matchesLike(name, like))
      .map((stage) => Object.values(COLUMNS).map((of) => of(stage)));
  }
}
