/** The answers about a table; only the members that the pages show. */

export type Column = {
  readonly id: number;
  readonly parent_id: number | null;
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  readonly is_key: boolean;
  readonly default: string | null;
  readonly initial_default: string | null;
  readonly comment: string | null;
};

export type Details = {
  readonly uuid: string;
  readonly location: string;
  readonly format_version: number;
  readonly owner: string | null;
  readonly comment: string | null;
  readonly created_at: string | null;
  readonly changed_at: string | null;
  readonly is_protected: boolean;
  readonly hidden_by_policy: boolean;
  readonly rows: number | null;
  readonly bytes: number | null;
  readonly files: number | null;
  readonly delete_files: number | null;
  readonly snapshots: number;
  readonly current_snapshot_id: string | null;
  readonly columns: readonly Column[];
  readonly columns_total: number;
  readonly partition_expressions: readonly string[];
  readonly sort: readonly {
    readonly column: string;
    readonly transform: string;
    readonly direction: string;
    readonly nulls: string;
  }[];
  readonly properties: Readonly<Record<string, string>>;
  readonly actions: readonly string[];
};

export type Snapshot = {
  readonly snapshot_id: string;
  readonly parent_id: string | null;
  readonly committed_at: string;
  readonly operation: string | null;
  readonly lane: number;
  readonly folded: number;
  readonly is_current_ancestor: boolean;
  readonly added_rows: number | null;
  readonly removed_rows: number | null;
  readonly added_files: number | null;
  readonly removed_files: number | null;
  readonly added_bytes: number | null;
  readonly removed_bytes: number | null;
};

export type SnapshotsPage = {
  readonly snapshots: readonly Snapshot[];
  readonly refs: readonly { readonly name: string; readonly type: 'branch' | 'tag'; readonly snapshot_id: string }[];
  readonly refs_total: number;
  readonly total: number;
  readonly hidden_by_policy: boolean;
  readonly next_page_token: string | null;
};

export type Sum = { readonly files: number; readonly rows: number; readonly bytes: number };

export type Files = {
  readonly snapshot_id: string | null;
  readonly hidden_by_policy: boolean;
  readonly is_whole: boolean;
  readonly data: Sum | null;
  readonly position_deletes: Sum | null;
  readonly equality_deletes: Sum | null;
  readonly deletion_vectors: Sum | null;
  readonly data_manifests: { readonly manifests: number; readonly bytes: number } | null;
  readonly delete_manifests: { readonly manifests: number; readonly bytes: number } | null;
  readonly sizes: readonly (Sum & { readonly below: number | null })[];
  readonly partition_fields: readonly string[];
  readonly partitions: readonly (Sum & {
    readonly values: readonly (string | null)[];
    readonly delete_files: number;
  })[];
  readonly other_partitions: (Sum & { readonly partitions: number }) | null;
};

export type Changes = {
  readonly hidden_by_policy: boolean;
  readonly schema: readonly {
    readonly change: string;
    readonly column: string;
    readonly before: string | null;
    readonly after: string | null;
  }[];
  readonly rows: Difference | null;
  readonly files: Difference | null;
  readonly bytes: Difference | null;
  readonly changes: {
    readonly added: Sum;
    readonly removed: Sum;
    readonly partition_fields: readonly string[];
    readonly partitions: readonly {
      readonly values: readonly (string | null)[];
      readonly added: Sum;
      readonly removed: Sum;
    }[];
    readonly other_partitions: number;
  } | null;
};
export type Difference = { readonly before: number | null; readonly after: number | null };

export type Health = {
  readonly hidden_by_policy: boolean;
  readonly is_whole: boolean;
  readonly findings: readonly {
    readonly code: string;
    readonly figures: Readonly<Record<string, number>>;
    readonly statement: string;
  }[];
};

export type View = {
  readonly is_materialized: boolean;
  readonly owner: string | null;
  readonly comment: string | null;
  readonly version_id: number;
  readonly columns: readonly { readonly name: string; readonly type: string; readonly comment: string | null }[];
  readonly problem: string | null;
  readonly versions: readonly {
    readonly version_id: number;
    readonly created_at: string;
    readonly dialect: string;
    readonly sql: string;
  }[];
  readonly versions_total: number;
  readonly actions: readonly string[];
};
