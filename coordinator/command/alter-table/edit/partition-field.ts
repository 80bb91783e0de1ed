import { SkeinError } from '#shared/error.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { takePartition, takeTransform, type PartitionClause, type TransformClause } from '../../clause/transform.ts';
import { bindPartition, bindTransform, describeTransform, isSame } from '../../table/bind-transforms.ts';
import type { Edit } from '../edit.ts';
import type { TableDraft } from '../table-draft.ts';

type PartitionFieldOf = TableDraft['partitions'][number];

/** `ADD PARTITION FIELD transform [AS name]` */
export const addPartitionField: Edit<PartitionClause> = {
  words: ['ADD PARTITION FIELD'],
  parse(reader) {
    reader.words(3);
    return takePartition(reader);
  },
  apply: (draft, clause) => withField(draft, clause),
};

/** `DROP PARTITION FIELD transform | name` */
export const dropPartitionField: Edit<{ readonly clause: TransformClause }> = {
  words: ['DROP PARTITION FIELD'],
  parse(reader) {
    reader.words(3);
    return { clause: takeTransform(reader) };
  },
  apply: (draft, { clause }) => without(draft, findField(draft, clause)),
};

/** `REPLACE PARTITION FIELD transform | name WITH transform [AS name]` */
export const replacePartitionField: Edit<{ readonly old: TransformClause; readonly by: PartitionClause }> = {
  words: ['REPLACE PARTITION FIELD'],
  parse(reader) {
    reader.words(3);
    const old = takeTransform(reader);
    if (!reader.takeWord('WITH')) throw reader.expected('WITH');
    return { old, by: takePartition(reader) };
  },
  apply(draft, { old, by }) {
    return withField(without(draft, findField(draft, old)), by);
  },
};

const withField = (draft: TableDraft, clause: PartitionClause): TableDraft => ({
  ...draft,
  partitions: [...draft.partitions, bindPartition(draft.fields, draft.partitions, clause)],
});

/** The partition field of a name or a transform. @throws COLUMN_NOT_FOUND */
function findField({ fields, partitions }: TableDraft, clause: TransformClause): PartitionFieldOf {
  const { transform, column } = clause;
  const name = foldIdentifier(column.parts.join('.'));
  const present = partitions.filter((one) => one.transform.kind !== 'void');
  const named = transform.kind === 'identity' ? present.find((one) => foldIdentifier(one.name) === name) : undefined;
  if (named !== undefined) return named;
  const { field, path } = bindTransform(fields, clause);
  const found = present.find((one) => one.sourceId === field.id && isSame(one.transform, transform));
  if (found !== undefined) return found;
  const message = `the table is not partitioned by ${describeTransform(transform, path)}`;
  throw new SkeinError('COLUMN_NOT_FOUND', message, { position: column.position });
}

/** Format version 1 keeps a dropped field as `void`, because its manifests know partition values by their place. */
const without = (draft: TableDraft, dropped: PartitionFieldOf): TableDraft => ({
  ...draft,
  partitions:
    draft.formatVersion === 1
      ? draft.partitions.map((one) => (one === dropped ? { ...one, transform: { kind: 'void' } } : one))
      : draft.partitions.filter((one) => one !== dropped),
});
