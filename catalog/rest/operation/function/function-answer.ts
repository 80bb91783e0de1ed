import type { FunctionRow } from '../../../store/postgres/function-store.ts';
import type { Answer } from '../../rest-operation.ts';

/** `LoadFunctionResult` */
export const loadFunctionAnswer = ({ metadataLocation, metadata }: FunctionRow): Answer => ({
  status: 200,
  text: `{"metadata-location":${JSON.stringify(metadataLocation)},"metadata":${metadata}}`,
});
