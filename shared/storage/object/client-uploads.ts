/** The object that an upload makes, and where a store whose addresses open a whole object keeps its parts meanwhile. */
export type UploadTarget = { readonly location: string; readonly coming: string };

/** A part that the store has. */
export type StoredPart = {
  readonly number: number;
  /** Null = the store tells none. */
  readonly etag: string | null;
  readonly sizeBytes: number;
};

/** An upload that was begun. */
export type BegunUpload = {
  /** The store's id of it. */
  readonly id: string;
  /** The request was sent again, because its answer was lost: the store may have begun another upload before, whose id nobody knows. */
  readonly mayHaveLost: boolean;
};

/**
 * Uploads whose parts somebody else sends to the store by signed addresses. The object is not there until the upload is completed, and then it
 * replaces another one of its name at once.
 */
export type ClientUploads = {
  /** Begins an upload. @param writeId the object will have it @throws STORAGE_ERROR */
  begin(target: UploadTarget, writeId: string): Promise<BegunUpload>;
  /** The parts that have come, by their numbers; undefined when the upload has ended. @throws STORAGE_ERROR */
  parts(target: UploadTarget, uploadId: string): Promise<readonly StoredPart[] | undefined>;
  /** Makes the parts the object. @returns false when the upload has ended @throws STORAGE_ERROR, INVALID_REQUEST */
  complete(target: UploadTarget, uploadId: string, parts: readonly StoredPart[]): Promise<boolean>;
  /** Whether the object was written by this upload. @throws STORAGE_ERROR */
  isWritten(target: UploadTarget, writeId: string): Promise<boolean>;
  /** Ends an upload; one that has ended is no error. @throws STORAGE_ERROR */
  abort(target: UploadTarget, uploadId: string): Promise<void>;
  /** Ends the uploads of one object that were begun before a time, but for the known ones. @throws STORAGE_ERROR */
  abortUnknown(target: UploadTarget, known: ReadonlySet<string>, beforeMs: number): Promise<void>;
};
