import type { WhoamiEntry as Whoami } from '#coordinator/api/http/api-types.ts';
import type { AskState } from '../ask/ask-state.ts';
import type { ObjectPath } from './statements.ts';

export type ObjectProps = {
  readonly path: ObjectPath;
  readonly tab: string;
  readonly ask: AskState;
  readonly me: Whoami;
};
