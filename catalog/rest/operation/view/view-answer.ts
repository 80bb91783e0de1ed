import type { CommittedView } from '../../../commit/view/commit-view.ts';
import type { Answer } from '../../rest-operation.ts';

/** Renders a `LoadViewResult`. The metadata is inserted as text, without parsing it. */
export const loadViewAnswer = ({ metadataLocation, metadata }: CommittedView): Answer => ({
  status: 200,
  text: `{"metadata-location":${JSON.stringify(metadataLocation)},"metadata":${metadata},"config":{}}`,
});
