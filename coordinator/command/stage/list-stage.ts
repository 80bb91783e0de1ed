import type { Pages } from '../../catalog-client/pages.ts';
import { openStage } from '../../stage/open-stage.ts';
import { listStageFiles, type StageFile } from '../../stage/stage-files.ts';
import type { StageReference } from '../../stage/stage-reference.ts';
import { pagedTextResult } from '../../operation/answer.ts';
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
    return pagedTextResult(Object.keys(COLUMNS), rowsOf(listStageFiles(stage, reference.path)));
  },
});

const COLUMNS = {
  name: (one) => one.path,
  size: (one) => String(one.sizeBytes),
  etag: (one) => one.etag,
  last_modified: (one) => new Date(one.modifiedMs).toISOString(),
} as const satisfies Readonly<Record<string, (file: StageFile) => string>>;

async function* rowsOf(pages: Pages<StageFile>): Pages<readonly string[]> {
  for await (const files of pages) yield files.map((file) => Object.values(COLUMNS).map((of) => of(file)));
}
