import { SkeinError } from '#shared/error.ts';
import { changeCatalog } from '../../catalog-client/change-catalog.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { statusResult } from '../../operation/answer.ts';
import { withNamePosition } from '../../operation/with-name-position.ts';
import { takeIfExists } from '../clause/exists.ts';
import type { Command } from '../command.ts';
import { isAbsentStage, noStage } from './absent-stage.ts';
import { stageParams } from './stage-params.ts';

type DropStage = { readonly ifExists: boolean; readonly name: ObjectName };

/** `DROP STAGE [IF EXISTS] name`; its files go with it, soon after */
export const dropStage: Command<DropStage> = {
  words: ['DROP STAGE'],
  queryType: 'ddl',
  timeout: 'session',
  parse(reader) {
    reader.words(2);
    const ifExists = takeIfExists(reader);
    const name = reader.name('a stage', 3);
    reader.end();
    return { ifExists, name };
  },
  action: () => 'stage.drop',
  async run({ name, ifExists }, context) {
    const drop = async (): Promise<void> => {
      const stage = await stageParams(name, context);
      await changeCatalog(context, { id: 'dropStage', params: { ...stage.params, stage: stage.name } });
    };
    await withNamePosition(name, drop()).catch((error: unknown) => {
      if (!isAbsentStage(error)) throw error;
      if (ifExists) return;
      throw SkeinError.of(error).code === 'STAGE_NOT_FOUND' ? noStage(name) : error;
    });
    return context.answer(statusResult('DROP STAGE'));
  },
};
