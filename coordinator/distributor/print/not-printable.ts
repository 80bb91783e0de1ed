/** Thrown when a plan has no faithful SQL form: the query runs whole on one worker, and EXPLAIN shows the reason. */
export class NotPrintable extends Error {
  readonly reason: string;

  constructor(reason: string) {
    super(`not printable: ${reason}`);
    this.name = 'NotPrintable';
    this.reason = reason;
  }
}
