/**
 * Four statements of TPC-DS have two parts over the same definitions; the extension has one of each. These are the main queries of the
 * other ones (specification 3.2, B.14, B.23, B.24, B.39), by the part's name.
 */
export const SECOND_PARTS: Readonly<Record<string, { readonly of: string; readonly query: string }>> = {
  q14b: { of: 'q14', query: sameWeekOfLastYear() },
  q23a: {
    of: 'q23',
    query: `SELECT sum(sales) FROM (${bestCustomersSales('catalog', 'cs')} UNION ALL ${bestCustomersSales('web', 'ws')}) LIMIT 100`,
  },
  q24b: {
    of: 'q24',
    query: `SELECT c_last_name, c_first_name, s_store_name, sum(netpaid) paid FROM ssales WHERE i_color = 'chiffon'
      GROUP BY c_last_name, c_first_name, s_store_name HAVING sum(netpaid) > (SELECT 0.05 * avg(netpaid) FROM ssales)
      ORDER BY c_last_name, c_first_name, s_store_name`,
  },
  q39b: {
    of: 'q39',
    query: `SELECT inv1.w_warehouse_sk, inv1.i_item_sk, inv1.d_moy, inv1.mean, inv1.cov, inv2.w_warehouse_sk, inv2.i_item_sk, inv2.d_moy,
        inv2.mean, inv2.cov
      FROM inv inv1, inv inv2
      WHERE inv1.i_item_sk = inv2.i_item_sk AND inv1.w_warehouse_sk = inv2.w_warehouse_sk AND inv1.d_moy = 1 AND inv2.d_moy = 1 + 1
        AND inv1.cov > 1.5
      ORDER BY inv1.w_warehouse_sk NULLS FIRST, inv1.i_item_sk NULLS FIRST, inv1.d_moy NULLS FIRST, inv1.mean NULLS FIRST,
        inv1.cov NULLS FIRST, inv2.d_moy NULLS FIRST, inv2.mean NULLS FIRST, inv2.cov NULLS FIRST`,
  },
};

function sameWeekOfLastYear(): string {
  const week = (year: string): string =>
    `(SELECT d_week_seq FROM date_dim WHERE d_year = ${year} AND d_moy = 12 AND d_dom = 11)`;
  const sales = (year: string): string => `(SELECT 'store' channel, i_brand_id, i_class_id, i_category_id,
      sum(ss_quantity * ss_list_price) sales, count(*) number_sales
    FROM store_sales, item, date_dim
    WHERE ss_item_sk IN (SELECT ss_item_sk FROM cross_items) AND ss_item_sk = i_item_sk AND ss_sold_date_sk = d_date_sk
      AND d_week_seq = ${week(year)}
    GROUP BY i_brand_id, i_class_id, i_category_id
    HAVING sum(ss_quantity * ss_list_price) > (SELECT average_sales FROM avg_sales))`;
  const columns = (side: string): string =>
    ['channel', 'i_brand_id', 'i_class_id', 'i_category_id', 'sales', 'number_sales']
      .map((name) => `${side}.${name} ${side}_${name}`)
      .join(', ');
  return `SELECT ${columns('ty')}, ${columns('ly')} FROM ${sales('1999 + 1')} ty, ${sales('1999')} ly
    WHERE ty.i_brand_id = ly.i_brand_id AND ty.i_class_id = ly.i_class_id AND ty.i_category_id = ly.i_category_id
    ORDER BY ty.channel, ty.i_brand_id, ty.i_class_id, ty.i_category_id LIMIT 100`;
}

function bestCustomersSales(table: string, prefix: string): string {
  return `SELECT ${prefix}_quantity * ${prefix}_list_price sales FROM ${table}_sales, date_dim
    WHERE d_year = 2000 AND d_moy = 2 AND ${prefix}_sold_date_sk = d_date_sk
      AND ${prefix}_item_sk IN (SELECT item_sk FROM frequent_ss_items)
      AND ${prefix}_bill_customer_sk IN (SELECT c_customer_sk FROM best_ss_customer)`;
}
