/** What the distributor decides by, in bytes of values in memory, as estimated or counted. */
export type DistributionLimits = {
  /** A table or a stage's output up to this is read whole by every task rather than exchanged. */
  readonly readEverywhereBytesMax: number;
  /** Tables up to this are read by the one task that needs all rows rather than in a stage of their own. */
  readonly readInOneBytesMax: number;
  /** So much of a stage's output is read by all slots together rather than divided among them. */
  readonly repeatedBytesMax: number;
  /** A side of a join that is bigger is never broadcast, unless that is forced. */
  readonly broadcastBytesMax: number;
  /** A partition has at least so much: less data makes fewer partitions. */
  readonly partitionBytesMin: number;
  /** Nor more rows than this, as estimated, where they go into a hash table: in a big one each row is a cache miss. */
  readonly hashedRowsMax: number;
  /** Partitions of a slot that this makes, at most. */
  readonly partitionsPerSlotMax: number;
  /** Groups up to this are brought together in one task. */
  readonly gatherGroupsMax: number;
  /** What a stage costs each slot beside its bytes, in bytes that it could send meanwhile: the round trips of its tasks. */
  readonly stageCostBytes: number;
  /** `auto`: a query that reads no more runs whole on one worker. */
  readonly wholeBytesMax: number;
};

export const DISTRIBUTION_LIMITS: DistributionLimits = {
  readEverywhereBytesMax: 16 * 2 ** 20,
  readInOneBytesMax: 4 * 2 ** 20,
  repeatedBytesMax: 8 * 2 ** 20,
  broadcastBytesMax: 100 * 2 ** 20,
  partitionBytesMin: 2 * 2 ** 20,
  hashedRowsMax: 4_000_000,
  partitionsPerSlotMax: 16,
  gatherGroupsMax: 10_000,
  stageCostBytes: 8 * 2 ** 20,
  wholeBytesMax: 48 * 2 ** 20,
};
