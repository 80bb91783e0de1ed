import type { LiveWorker } from '../cluster/worker-pool.ts';
import { stageRooms, type StageRoom } from '../distributor/estimate/cluster-cores.ts';
import type { TaskWidth } from '../distributor/fragment.ts';
import { workerFacts } from './scheduler.ts';

/** The rooms of the open workers, in their order, for stages of a width. */
export type RoomsByWidth = (width: TaskWidth) => readonly StageRoom[];

/** Computes the rooms of every width once, because each worker asks for each stage. */
export function roomsByWidth(workers: readonly LiveWorker[]): RoomsByWidth {
  const known = new Map<TaskWidth, readonly StageRoom[]>();
  return (width) => {
    const rooms = known.get(width) ?? stageRooms(workerFacts(workers), width);
    known.set(width, rooms);
    return rooms;
  };
}
