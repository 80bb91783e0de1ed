/** Thresholds of the distributor's decisions. Bytes are of values in memory, estimated or counted. */
export type DistributionLimits = {
  /** A table or a stage's output up to this is read whole by every task rather than exchanged. */
  readonly readEverywhereBytesMax: number;
  /** Tables up to this are read by the one task that needs all rows rather than in a stage of their own. */
  readonly readInOneBytesMax: number;
  /** Every task reads a stage's output whole, rather than a share, when its bytes times the tasks that run at once are at most this. */
  readonly repeatedBytesMax: number;
  /** A side of a join that is bigger than this is never broadcast, unless the session forces it or no other distribution is possible. */
  readonly broadcastBytesMax: number;
  /** A partition has at least this many bytes: less data makes fewer partitions. */
  readonly partitionBytesMin: number;
  /** A partition that goes into a hash table has at most this many estimated rows: in a bigger table each row is a cache miss. */
  readonly hashedRowsMax: number;
  /** At most this many partitions per task that runs at once result from `hashedRowsMax`. */
  readonly partitionsPerTaskMax: number;
  /** Up to this many estimated groups are gathered in one task. */
  readonly gatherGroupsMax: number;
  /** Grouping sets over fewer estimated rows are not computed from each other: the steps would cost more than they save. */
  readonly chainedRowsMin: number;
  /** Fixed cost of a stage per task that runs at once (its round trips), as the bytes that the task could send in that time. */
  readonly stageCostBytes: number;
  /** In `auto` mode, a query that reads at most this runs whole on one worker. */
  readonly wholeBytesMax: number;
};

export const DISTRIBUTION_LIMITS: DistributionLimits = {
  readEverywhereBytesMax: 16 * 2 ** 20,
  readInOneBytesMax: 4 * 2 ** 20,
  repeatedBytesMax: 8 * 2 ** 20,
  broadcastBytesMax: 100 * 2 ** 20,
  partitionBytesMin: 2 * 2 ** 20,
  hashedRowsMax: 4_000_000,
  partitionsPerTaskMax: 16,
  gatherGroupsMax: 10_000,
  chainedRowsMin: 50_000,
  stageCostBytes: 8 * 2 ** 20,
  wholeBytesMax: 48 * 2 ** 20,
};
