import { SkeinError } from '#shared/error.ts';
import { checkIdentifier } from '#shared/sql/check-identifier.ts';
import { changeCatalog } from '../../catalog-client/change-catalog.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { statusResult } from '../../operation/answer.ts';
import { withNamePosition } from '../../operation/with-name-position.ts';
import { takeComment } from '../clause/comment.ts';
import { takeIfNotExists } from '../clause/exists.ts';
import { takeProperties, type Properties } from '../clause/properties.ts';
import type { Command } from '../command.ts';
import { stageParams } from './stage-params.ts';

type CreateStage = {
  readonly ifNotExists: boolean;
  readonly name: ObjectName;
  readonly comment: string | null;
  readonly properties: Properties;
};

/** `CREATE STAGE [IF NOT EXISTS] name [COMMENT 'text'] [WITH ('upload_ttl' = '1h')]` */
export const createStage: Command<CreateStage> = {
  words: ['CREATE STAGE'],
  queryType: 'ddl',
  timeout: 'session',
  parse(reader) {
    reader.words(2);
    const ifNotExists = takeIfNotExists(reader);
    const name = reader.name('a stage', 3);
    checkIdentifier(name.parts.at(-1) ?? '', name.position);
    const comment = takeComment(reader);
    const properties = reader.takeWord('WITH') ? takeProperties(reader) : [];
    if (reader.peekWord() === 'URL') {
      throw reader.error('NOT_SUPPORTED', 'a stage over a foreign URL is not served: its files lie in the warehouse');
    }
    reader.end();
    return { ifNotExists, name, comment, properties };
  },
  action: () => 'stage.create',
  async run({ name, ifNotExists, comment, properties }, context) {
    const create = async (): Promise<void> => {
      const stage = await stageParams(name, context);
      const given = { owner: context.caller.claims.preferred_username, ...Object.fromEntries(properties) };
      const body = { name: stage.name, properties: comment === null ? given : { ...given, comment } };
      await changeCatalog(context, { id: 'createStage', params: stage.params, body });
    };
    await withNamePosition(name, create()).catch((error: unknown) => {
      const { code, position } = SkeinError.of(error);
      if (code !== 'ALREADY_EXISTS') throw error;
      if (!ifNotExists) throw new SkeinError(code, `stage ${name.parts.join('.')} exists already`, { position });
    });
    return context.answer(statusResult('CREATE STAGE'));
  },
};
