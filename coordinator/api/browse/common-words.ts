// long lines: words that the editor proposes

/** Functions that people call often; each of them is served. */
export const FUNCTIONS: readonly string[] =
  `abs any_value approx_count_distinct approx_quantile arg_max arg_min array_agg avg bit_and bit_or bool_and bool_or ceil coalesce concat concat_ws
  contains corr cos count cume_dist current_date current_timestamp date_diff date_part date_trunc dayname dense_rank ends_with epoch exp extract
  first_value flatten floor format generate_series greatest grouping hash histogram ifnull json_extract json_extract_string kurtosis lag last_day
  last_value lead least left length like_escape list list_aggregate list_concat list_contains list_distinct list_filter list_sort list_transform ln
  log lower lpad ltrim make_date make_timestamp map_keys map_values max max_by md5 median min min_by mod mode monthname nth_value ntile now nullif
  percent_rank pi position power product quantile_cont quantile_disc random range rank regexp_extract regexp_matches regexp_replace repeat replace
  reverse right round row_number rpad rtrim sha256 sign sin skewness split_part sqrt starts_with stddev stddev_pop stddev_samp strftime string_agg
  string_split strlen strptime struct_pack substring sum tan to_timestamp trim trunc typeof unnest upper uuid var_pop var_samp variance`.split(
    /\s+/,
  );

/** Words of statements. */
export const COMPLETED_KEYWORDS: readonly string[] =
  `SELECT FROM WHERE GROUP BY ORDER HAVING LIMIT OFFSET JOIN LEFT RIGHT FULL INNER CROSS ON USING AS AND OR NOT IN IS NULL LIKE ILIKE BETWEEN EXISTS CASE WHEN
  THEN ELSE END DISTINCT UNION ALL EXCEPT INTERSECT WITH RECURSIVE INSERT INTO VALUES UPDATE SET DELETE MERGE CREATE TABLE VIEW MATERIALIZED REFRESH SCHEMA
  ALTER DROP COLUMN ADD RENAME TRUNCATE DESCRIBE SHOW EXPLAIN ANALYZE COPY OVER PARTITION ROWS RANGE UNBOUNDED PRECEDING FOLLOWING CURRENT ROW QUALIFY
  WINDOW PIVOT UNPIVOT CAST INTERVAL TRUE FALSE ASC DESC NULLS FIRST LAST BEGIN COMMIT ROLLBACK OPTIMIZE CALL USE GRANT REVOKE FOR VERSION TIMESTAMP OF`.split(
    /\s+/,
  );
