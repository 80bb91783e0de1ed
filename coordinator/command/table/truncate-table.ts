import { randomUUID } from 'node:crypto';
import { currentSchema, specById } from '#shared/iceberg/table-metadata.ts';
import { commitWrites } from '#shared/iceberg/write/commit-writes.ts';
import { deleteAllFiles } from '#shared/iceberg/write/delete-all-files.ts';
import { MAIN_BRANCH } from '#shared/iceberg/write/table-write.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { SETTLE_MS } from '../../catalog-client/change-catalog.ts';
import { statementUse } from '../../catalog-client/fresh-key.ts';
import { loadWithFiles, writeCatalog } from '../../catalog-client/write-catalog.ts';
import { callersTables } from '../../session/callers-tables.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { statusResult } from '../../operation/answer.ts';
import { withNamePosition } from '../../operation/with-name-position.ts';
import type { Command } from '../command.ts';
import type { CommandContext } from '../../operation/command-context.ts';
import { requireUnpoliced } from '../../operation/policed-table.ts';
import { qualify } from '../../operation/qualify.ts';

/** `TRUNCATE [TABLE] name`: a snapshot without files; those before it keep theirs */
export const truncateTable: Command<{ readonly name: ObjectName }> = {
  words: ['TRUNCATE', 'TRUNCATE TABLE'],
  queryType: 'ddl',
  timeout: 'session',
  parse(reader) {
    reader.word();
    reader.takeWord('TABLE');
    const name = reader.name('a table', 3);
    reader.end();
    return { name };
  },
  action: () => 'table.commit',
  async run({ name }, context) {
    await withNamePosition(name, truncate(name, context));
    return context.answer(statusResult('TRUNCATE TABLE'));
  },
};

async function truncate(name: ObjectName, context: CommandContext): Promise<void> {
  const { catalog: client, caller, config, signal } = context;
  const tables = callersTables(client, caller);
  const table = await loadWithFiles(context, tables, { name: await qualify(name, context), signal });
  requireUnpoliced(table, 'TRUNCATE');
  const { metadata: base } = table;
  if (base.currentSnapshotId === null) return;
  const storage = openStorage(base.location, table.credential, statementUse(client, caller.claims.tenant));
  const write = {
    writeId: randomUUID(),
    name: table.name,
    shape: 'keep',
    base,
    schema: currentSchema(base),
    spec: specById(base, base.defaultSpecId),
    // Files of stages may be loaded again.
    loads: { forgotten: { branch: MAIN_BRANCH } },
    change: deleteAllFiles(),
  } as const;
  context.beginCommit();
  const options = {
    retriesMax: config['catalog.commit_retries_max'],
    settleMs: SETTLE_MS,
    signal,
    manifests: context.files.manifests(table),
  };
  await commitWrites(writeCatalog(client, caller.claims, tables), storage, [write], options);
}
