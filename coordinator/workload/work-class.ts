export const WORK_CLASSES = ['interactive', 'medium', 'batch'] as const;

/** Class of a query (service specification, Workload classification). */
export type WorkClass = (typeof WORK_CLASSES)[number];

/** Priority of each class: High, Normal and Low; higher means more important, and history keeps it. */
export const PRIORITIES: Readonly<Record<WorkClass, number>> = { interactive: 3, medium: 2, batch: 1 };

/** Queries of this priority or a higher one stay on the top level of the slots. */
export const PRIORITY_HIGH = PRIORITIES.interactive;

/** Priorities that a routing rule may give. */
export const PRIORITY_MAX = 4;

/** Queries of each class that run, and that wait for admission. */
export type ClassCounts = Record<WorkClass, { running: number; queued: number }>;

export const noQueries = (): ClassCounts => ({
  interactive: { running: 0, queued: 0 },
  medium: { running: 0, queued: 0 },
  batch: { running: 0, queued: 0 },
});
