import { parentPort, threadId } from 'node:worker_threads';
import { workerData } from 'piscina';
import type { SlotJob, SlotSettings } from '../turns/slot-messages.ts';
import { SlotThread } from './slot-thread.ts';

/** The program of a slot's thread. */
const slot = new SlotThread(workerData as SlotSettings, threadId, (message) => parentPort?.postMessage(message, []));

/** Runs when the thread has loaded this program. */
export function load(): void {}

export const closeInstances = (): void => slot.closeInstances();

export const runTask = (job: SlotJob): Promise<void> => slot.runTask(job);
