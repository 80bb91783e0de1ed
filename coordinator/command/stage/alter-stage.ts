import { SkeinError } from '#shared/error.ts';
import { checkIdentifier } from '#shared/sql/check-identifier.ts';
import { schemaName } from '../../catalog-client/catalog-browser.ts';
import { changeCatalog } from '../../catalog-client/change-catalog.ts';
import { stageName } from '../../stage/open-stage.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { statusResult } from '../../operation/answer.ts';
import { withNamePosition } from '../../operation/with-name-position.ts';
import type { CommandContext } from '../../operation/command-context.ts';
import { takeIfExists } from '../clause/exists.ts';
import type { Command } from '../command.ts';
import { isAbsentStage, noStage } from './absent-stage.ts';

type AlterStage = { readonly ifExists: boolean; readonly name: ObjectName; readonly newName: ObjectName };

/** `ALTER STAGE [IF EXISTS] name RENAME TO name`; its files stay, and so do the addresses of them that were given out */
export const alterStage: Command<AlterStage> = {
  words: ['ALTER STAGE'],
  queryType: 'ddl',
  timeout: 'session',
  parse(reader) {
    reader.words(2);
    const ifExists = takeIfExists(reader);
    const name = reader.name('a stage', 3);
    if (!reader.takeWords('RENAME', 'TO')) throw reader.expected('RENAME TO');
    const newName = reader.name('a stage', 3);
    checkIdentifier(newName.parts.at(-1) ?? '', newName.position);
    reader.end();
    return { ifExists, name, newName };
  },
  action: () => 'stage.rename',
  async run({ ifExists, name, newName }, context) {
    await rename(name, newName, context).catch((error: unknown) => {
      if (!ifExists || !isAbsentStage(error) || SkeinError.of(error).position !== name.position) throw error;
    });
    return context.answer(statusResult('ALTER STAGE'));
  },
};

/** Renames a stage, also into another schema of its catalog; a new name of one part stays in the stage's schema. */
async function rename(name: ObjectName, newName: ObjectName, context: CommandContext): Promise<void> {
  const { catalog, of } = await withNamePosition(name, stageName({ name: name.parts }, context));
  const source = { namespace: of?.namespace ?? [], name: of?.name ?? '' };
  const { parts, position } = newName;
  const inSchema =
    parts.length === 3 ? parts : [catalog, ...(parts.length === 2 ? [] : [schemaName(source.namespace)]), ...parts];
  const to = await withNamePosition(newName, stageName({ name: inSchema }, context));
  if (to.catalog !== catalog) throw new SkeinError('NOT_SUPPORTED', 'a stage stays in its catalog', { position });
  const body = { source, destination: { namespace: to.of?.namespace ?? [], name: to.of?.name ?? '' } };
  const operation = { id: 'renameStage', params: { prefix: catalog }, body };
  await changeCatalog(context, operation).catch((error: unknown) => {
    const { code } = SkeinError.of(error);
    if (code === 'STAGE_NOT_FOUND') throw noStage(name);
    if (code !== 'ALREADY_EXISTS') throw error;
    throw new SkeinError(code, `stage ${parts.join('.')} exists already`, { position, cause: error });
  });
}
