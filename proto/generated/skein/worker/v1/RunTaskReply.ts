// Original file: worker.proto

import type { LostInputInput as _skein_worker_v1_LostInputInput, LostInput as _skein_worker_v1_LostInput } from '../../../skein/worker/v1/LostInput.ts';

export interface RunTaskReplyInput {
  readonly report?: (Buffer | Uint8Array | string);
  readonly lost?: (_skein_worker_v1_LostInputInput | null);
  readonly failure?: (Buffer | Uint8Array | string);
  readonly output?: readonly (Buffer | Uint8Array | string)[];
  readonly is_open?: (boolean);
  readonly messages?: readonly (Buffer | Uint8Array | string)[];
}

export interface RunTaskReply {
  readonly report: (Buffer);
  readonly lost: (_skein_worker_v1_LostInput | null);
  readonly failure: (Buffer);
  readonly output: readonly (Buffer)[];
  readonly is_open: (boolean);
  readonly messages: readonly (Buffer)[];
}
