/** A part of the product that gets untrusted input, and the law that it keeps for every input. */
export type FuzzTarget = {
  readonly name: string;
  /** The law, in a few words. */
  readonly what: string;
  /** The inputs that once broke the law, which run first. @returns why one breaks it again; undefined when all keep it */
  readonly replay: () => Promise<string | undefined>;
  /** Draws inputs until the time is over or one breaks the law; that one is kept below `test/fuzz/found`. */
  readonly fuzz: (options: FuzzOptions) => Promise<FuzzResult>;
};

export type FuzzOptions = {
  readonly seed: number;
  /** Time of drawing and checking; the time to start processes is not counted. */
  readonly forMs: number;
};

/** `failure`: what was found, and where it is kept. */
export type FuzzResult = { readonly runs: number; readonly failure?: string };
