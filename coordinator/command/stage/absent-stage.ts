import { SkeinError } from '#shared/error.ts';
import type { ObjectName } from '../../statement/statement.ts';

const ABSENT: ReadonlySet<string> = new Set(['STAGE_NOT_FOUND', 'SCHEMA_NOT_FOUND', 'CATALOG_NOT_FOUND']);

/** Whether a stage is not there, for `IF EXISTS`. */
export const isAbsentStage = (error: unknown): boolean => ABSENT.has(SkeinError.of(error).code);

/** The error of a statement about a stage that is not there. */
export const noStage = ({ parts, position }: ObjectName): SkeinError =>
  new SkeinError('STAGE_NOT_FOUND', `stage ${parts.join('.')} does not exist`, { position });
