import { openStage } from '../../stage/open-stage.ts';
import { listStageFiles, removeStageFiles } from '../../stage/stage-files.ts';
import type { StageReference } from '../../stage/stage-reference.ts';
import type { Command } from '../command.ts';
import { takeStage } from './take-stage.ts';

/** `REMOVE @stage[/path]`: the file of the path, or those of the folder; answers how many */
export const removeFiles: Command<StageReference> = {
  words: ['REMOVE', 'RM'],
  queryType: 'ddl',
  timeout: 'session',
  parse(reader) {
    reader.words(1);
    const reference = takeStage(reader);
    reader.end();
    return reference;
  },
  action: () => 'stage.write',
  answers: () => ({ kind: 'count' }),
  async run(reference, context) {
    const stage = await openStage(reference, 'stage.write', context);
    let count = 0;
    for await (const files of listStageFiles(stage, reference.path)) {
      context.signal.throwIfAborted();
      await removeStageFiles(stage, reference.path, files);
      count += files.length;
    }
    return context.answerCount(count);
  },
};
