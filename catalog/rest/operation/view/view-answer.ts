import type { CommittedView } from '../../../commit/view/commit-view.ts';
import type { Answer } from '../../operation.ts';

/** `LoadViewResult`. The metadata is put in as text: it is never parsed on its way. */
export const loadViewAnswer = ({ metadataLocation, metadata }: CommittedView): Answer => ({
  status: 200,
  text: `{"metadata-location":${JSON.stringify(metadataLocation)},"metadata":${metadata},"config":{}}`,
});
