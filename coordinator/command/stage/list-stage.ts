import { openStage } from '../../stage/open-stage.ts';
import { listStageFiles, type StageFile } from '../../stage/stage-files.ts';
import type { StageReference } from '../../stage/stage-reference.ts';
import { formPages, type RowForm } from '../../operation/row-form.ts';
import { rowsCommand } from '../rows-command.ts';
import { takeStage } from './take-stage.ts';

/** `LIST @stage[/path]`: the file of the path, or those of the folder */
export const listStage = rowsCommand<StageReference>({
  words: ['LIST', 'LS'],
  queryType: 'show',
  timeout: 'session',
  parse(reader) {
    reader.words(1);
    const reference = takeStage(reader);
    reader.end();
    return reference;
  },
  action: () => 'stage.read',
  async rows(reference, context) {
    const stage = await openStage(reference, 'stage.read', context);
    return formPages(COLUMNS, listStageFiles(stage, reference.path));
  },
});

const COLUMNS: RowForm<StageFile> = {
  name: ['VARCHAR', (one) => one.path],
  size: ['BIGINT', (one) => one.sizeBytes],
  etag: ['VARCHAR', (one) => one.etag],
  last_modified: ['TIMESTAMP WITH TIME ZONE', (one) => new Date(one.modifiedMs).toISOString()],
};
