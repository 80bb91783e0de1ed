/** Whether the figures of a statement in this state still move. */
export const isLive = (status: string): boolean => status === 'queued' || status === 'running';
