import type { Json } from '#shared/json.ts';
import type { StageRow } from '../../../store/postgres/stage-store.ts';
import { ok, type Answer } from '../../rest-operation.ts';

/** A stage as clients see it. Where it lies is not said: its files are reached through the query service alone. */
export const stageJson = ({ namespace, name, properties, createdAt }: StageRow): Json => ({
  namespace,
  name,
  properties,
  'created-at-ms': createdAt.getTime(),
});

export const stageAnswer = (stage: StageRow): Answer => ok(stageJson(stage));
