/** The texts that read the records of a file of a stage, for FROM. */
export type RecordTexts = {
  /** Fails when a record cannot be read. */
  readonly strict: string;
  /** Fails for no record: it has the columns `GUARDED_COLUMNS`, too, and NULL for values that cannot be had. */
  readonly guarded: string;
  /** The record at a place that `guarded` gives; it fails if `strict` does. */
  readonly record: (place: number) => string;
};
