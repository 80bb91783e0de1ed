import { parseStageReference, type StageReference } from '../../stage/stage-reference.ts';
import type { StatementReader } from '../../statement/statement-reader.ts';

/** `@stage/path` @throws SYNTAX_ERROR, INVALID_REQUEST for a path that no file of a stage has */
export function takeStage(reader: StatementReader): StageReference {
  const found = reader.takeReference();
  if (found === null) throw reader.expected('a stage such as @name/path');
  return parseStageReference(found.text, found.offset);
}
