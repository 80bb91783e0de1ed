import { setTimeout as sleep } from 'node:timers/promises';
import { sendCommit } from '#shared/iceberg/write/commit-writes.ts';
import type { TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { printJson, type JsonObject } from '#shared/json.ts';
import { SETTLE_MS } from '../catalog-client/change-catalog.ts';
import { loadForWrite, writeCatalog } from '../catalog-client/write-catalog.ts';
import type { TableName } from '../binding/table-source.ts';
import { callersTables } from '../session/callers-tables.ts';
import type { CommandContext } from './command-context.ts';

/** Pause before a change that lost against another is made anew; a random part of up to 20 times of it is added. */
const RETRY_PAUSE_MS = 10;

/** A change of a table's metadata: updates of the REST specification, and requirements beside `shapeRequirements`. */
export type MetadataChange = {
  readonly updates: readonly JsonObject[];
  readonly requirements?: readonly JsonObject[];
};

type ChangedTable = Awaited<ReturnType<typeof loadForWrite>>;

type ChangeOptions = {
  /** The key of each attempt, which is durable when this resolves; without it each has one of its own. */
  readonly newKey?: () => Promise<string>;
};

/**
 * Commits a change that `change` makes of the table as it is now; when another commit came first, of the table as that one left it.
 * @throws what `change` throws, TABLE_NOT_FOUND, COMMIT_CONFLICT, COMMIT_STATE_UNKNOWN
 */
export async function changeTable(
  context: CommandContext,
  name: TableName,
  change: (base: TableMetadata, table: ChangedTable) => MetadataChange | Promise<MetadataChange>,
  { newKey }: ChangeOptions = {},
): Promise<void> {
  const { catalog: client, caller, signal, config } = context;
  // The statement's own tables would stay as they were when it began.
  const tables = callersTables(client, caller);
  const catalog = writeCatalog(client, caller.claims, tables);
  for (let attempt = 0; ; attempt += 1) {
    const table = await loadForWrite(tables, name, signal);
    const { updates, requirements = [] } = await change(table.metadata, table);
    if (updates.length === 0) return;
    context.beginCommit();
    const { catalog: ofCatalog, namespace, table: own } = table.name;
    const transaction = {
      'table-changes': [
        {
          identifier: { catalog: ofCatalog, namespace, name: own },
          requirements: [...shapeRequirements(table.metadata), ...requirements],
          updates,
        },
      ],
    };
    const refusal = await sendCommit(catalog, Buffer.from(printJson(transaction)), {
      ...(newKey === undefined ? {} : { newKey }),
      settleMs: SETTLE_MS,
      signal,
    });
    if (refusal === undefined) return;
    if (refusal.code !== 'COMMIT_CONFLICT' || attempt >= config['catalog.commit_retries_max']) throw refusal;
    await sleep(RETRY_PAUSE_MS * (1 + Math.random() * 20));
  }
}

/** Requires that the table's schema, partition spec and sort order are still those of `base`; rows may have come since. */
const shapeRequirements = (base: TableMetadata): readonly JsonObject[] => [
  { type: 'assert-table-uuid', uuid: base.tableUuid },
  { type: 'assert-current-schema-id', 'current-schema-id': base.currentSchemaId },
  { type: 'assert-last-assigned-field-id', 'last-assigned-field-id': base.lastColumnId },
  { type: 'assert-default-spec-id', 'default-spec-id': base.defaultSpecId },
  { type: 'assert-last-assigned-partition-id', 'last-assigned-partition-id': base.lastPartitionId },
  { type: 'assert-default-sort-order-id', 'default-sort-order-id': base.defaultSortOrderId },
];
