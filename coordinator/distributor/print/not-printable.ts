/** A plan that no SQL says faithfully: the query runs whole on one worker, and EXPLAIN says why. */
export class NotPrintable extends Error {
  readonly reason: string;

  constructor(reason: string) {
    super(`not printable: ${reason}`);
    this.name = 'NotPrintable';
    this.reason = reason;
  }
}
