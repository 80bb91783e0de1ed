/** The parts of the result files that targets read. */
export type Figures = {
  readonly total?: { readonly skein: readonly { readonly mode: string; readonly ratio: number }[] };
  readonly cases?: readonly {
    readonly name: string;
    readonly clients: number;
    readonly p50Ms: number;
    readonly perSecond: number;
  }[];
  readonly statements?: readonly {
    readonly name: string;
    readonly clients: number;
    readonly onMs: number;
    readonly offMs: number;
  }[];
  readonly copies?: readonly { readonly ratio: number }[];
  readonly changes?: readonly {
    readonly ratio: number;
    readonly readMs: number;
    readonly readPeersMs: number;
  }[];
  readonly inserts?: readonly {
    readonly p50Ms: number;
    readonly perSecond: number;
    readonly failed: number;
    readonly lastToFirst: number;
    readonly probeLastToFirst: number;
  }[];
  readonly pointQueryRatio?: number;
  readonly pointQueryRatioCached?: number;
  readonly optimizeMs?: number;
  readonly refresh?: { readonly ratio: number };
  readonly groupsRatio?: number;
  readonly attackRatio?: number;
  readonly leastRateRatio?: number;
  readonly tailRatio?: number;
  readonly idleMib?: number;
  readonly behindMs?: number;
  readonly grown?: { readonly coordinator: number; readonly catalog: number };
  readonly browsing?: { readonly ratio: number };
  /** Questions of tools over the Postgres wire. */
  readonly tools?: {
    readonly questions: readonly { readonly name: string; readonly firstMs: number; readonly p50Ms: number }[];
    readonly allMs: number;
    readonly selectOneMs: number;
    readonly behindMs: number;
    readonly browsing: { readonly ratio: number };
  };
  readonly flight?: {
    readonly selectOneRatio: number;
    readonly flight: { readonly p50Ms: number };
    readonly readyGBs: number;
    readonly lineitem: { readonly ratio: number; readonly grownMB: number };
    readonly ingest: { readonly ratio: number; readonly grownMB: number };
  };
  readonly psycopgRatio?: number;
  readonly point?: { readonly ratio: number };
  readonly warmRatio?: number;
  readonly warmShare?: number;
  readonly restartShare?: number;
  readonly limitBytes?: number;
  readonly ctasRatio?: number;
  readonly line?: readonly { readonly ratio: number }[];
  readonly lost?: number;
  readonly ratio?: number;
  readonly p95Ratio?: number;
  readonly throughput?: number;
  readonly loneRatio?: number;
  readonly missing?: number;
  readonly coordinatorMB?: number;
  readonly memory?: readonly { readonly residentBytes: number }[];
  readonly sizes?: readonly {
    readonly workers: number;
    readonly slots: number;
    readonly totalMs: number;
    readonly totalCpuSeconds: number;
  }[];
};
