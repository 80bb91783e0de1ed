// Original file: worker.proto

import type { HungTaskInput as _skein_worker_v1_HungTaskInput, HungTask as _skein_worker_v1_HungTask } from '../../../skein/worker/v1/HungTask.ts';
import type { TaskTimeInput as _skein_worker_v1_TaskTimeInput, TaskTime as _skein_worker_v1_TaskTime } from '../../../skein/worker/v1/TaskTime.ts';
import type { WantedKeyInput as _skein_worker_v1_WantedKeyInput, WantedKey as _skein_worker_v1_WantedKey } from '../../../skein/worker/v1/WantedKey.ts';
import type { Long } from '@grpc/proto-loader';

export interface WorkerBeatInput {
  readonly worker_id?: (string);
  readonly name?: (string);
  readonly duckdb_version?: (string);
  readonly cores?: (number);
  readonly memory_limit_bytes?: (number | string | Long);
  readonly running_tasks?: (number);
  readonly spool_bytes?: (number | string | Long);
  readonly draining?: (boolean);
  readonly pid?: (number | string | Long);
  readonly query_ids?: readonly (string)[];
  readonly machine_id?: (string);
  readonly machine_cores?: (number);
  readonly skein_release?: (string);
  readonly hung?: (_skein_worker_v1_HungTaskInput | null);
  readonly memory_granted_bytes?: (number | string | Long);
  readonly level_tasks?: readonly (number)[];
  readonly level_scheduled_ms?: readonly (number | string)[];
  readonly tasks?: readonly (_skein_worker_v1_TaskTimeInput)[];
  readonly asks_to_end?: (_skein_worker_v1_HungTaskInput | null);
  readonly open_slots?: (number);
  readonly wanted_keys?: readonly (_skein_worker_v1_WantedKeyInput)[];
}

export interface WorkerBeat {
  readonly worker_id: (string);
  readonly name: (string);
  readonly duckdb_version: (string);
  readonly cores: (number);
  readonly memory_limit_bytes: (string);
  readonly running_tasks: (number);
  readonly spool_bytes: (string);
  readonly draining: (boolean);
  readonly pid: (string);
  readonly query_ids: readonly (string)[];
  readonly machine_id: (string);
  readonly machine_cores: (number);
  readonly skein_release: (string);
  readonly hung: (_skein_worker_v1_HungTask | null);
  readonly memory_granted_bytes: (string);
  readonly level_tasks: readonly (number)[];
  readonly level_scheduled_ms: readonly (number)[];
  readonly tasks: readonly (_skein_worker_v1_TaskTime)[];
  readonly asks_to_end: (_skein_worker_v1_HungTask | null);
  readonly open_slots: (number);
  readonly wanted_keys: readonly (_skein_worker_v1_WantedKey)[];
}
