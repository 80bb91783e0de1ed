select distinct on (o_custkey) * from orders order by o_custkey, o_orderdate desc
select distinct o_custkey from orders
select o_custkey, count(*) from orders group by rollup(o_custkey, o_orderstatus), grouping sets ((o_clerk),())
select grouping(o_custkey), o_custkey from orders group by cube(o_custkey, o_clerk)
select sum(distinct o_totalprice) filter (where o_orderkey>1), string_agg(o_clerk, ',' order by o_orderkey desc), quantile_cont(o_totalprice, [0.1,0.5]) from orders
select unnest([1,2,3]), unnest({a:1,b:2}), o_orderkey from orders
select * from orders, unnest([o_orderkey,2]) u(x)
select * from range(10) t(a), generate_series(1,3)
select * from (values (1,'a'),(2,'b')) v(x,y) where x in (select n_nationkey from nation)
select * from orders where o_custkey not in (select c_custkey from customer)
select * from orders o where o_totalprice > (select avg(o_totalprice) from orders i where i.o_custkey=o.o_custkey)
select * from orders where exists (select 1 from lineitem where l_orderkey=o_orderkey and l_quantity > o_totalprice)
select * from orders left join lineitem on l_orderkey=o_orderkey and l_quantity > 3
select * from orders right join lineitem on l_orderkey=o_orderkey
select * from orders full join lineitem on l_orderkey=o_orderkey and o_totalprice < l_tax
select * from orders join lineitem on l_orderkey < o_orderkey or l_tax=o_totalprice
select * from orders asof join lineitem on o_custkey=l_partkey and o_orderdate >= l_shipdate
select * from orders positional join lineitem
select * from nation cross join region
select * from nation semi join region on n_regionkey=r_regionkey
select * from nation anti join region on n_regionkey=r_regionkey
select n_name from nation union select r_name from region union all select 'x'
select n_name from nation intersect all select r_name from region
select n_name from nation except select r_name from region
select * from nation limit 10%
select * from nation limit (select 3)
select * from nation limit 5 offset (select 1)
select * from nation using sample 10%
select * from nation tablesample reservoir(5 rows)
with recursive r(n) as (select 1 union all select n+1 from r where n<10) select * from r
with x as materialized (select * from nation) select * from x a join x b on a.n_nationkey=b.n_regionkey
with x as (select n_regionkey, count(*) c from nation group by 1) select * from x a, x b where a.c > b.c
select * from nation where false
select 1
select case n_nationkey when 1 then 'a' when 2 then 'b' else n_name end, coalesce(n_name,'x'), try_cast(n_name as integer), n_name::int, n_comment like '%a_b%', n_name ilike 'a%', n_name ~ 'x', regexp_matches(n_name,'a') from nation
select list_transform([n_nationkey,2], x -> x + n_regionkey), list_filter([1,2], x -> x>1), [x+1 for x in [1,2]] from nation
select {a:n_nationkey,b:'x'}.a, [1,2][n_nationkey], struct_pack(a:=1), map{1:n_name}, n_name[1:2], row(n_name,1) from nation
select * from nation where n_nationkey in (1,2,3,4,5,6,7,8,9,10) and n_name in ('a','b') and n_name not in ('c') and n_nationkey is not null and not (n_name like 'x%')
select * from nation where n_nationkey between 1 and 3 or n_regionkey is distinct from 5
select * from orders where o_orderdate >= '1995-01-01' and o_orderdate < date '1995-01-01' + interval 1 year and o_orderdate::timestamp < timestamp '1999-01-01' and year(o_orderdate)=1995
select * from lineitem where l_discount between 0.05 and 0.07 and l_quantity < 24 and l_linenumber = 3.0 and l_orderkey = 3::hugeint and l_linenumber + 1 > 5
select * from (select o_orderstatus, o_totalprice from orders) pivot (sum(o_totalprice) for o_orderstatus in ('F','O','P'))
select * from (select 1 as a, 2 as b) unpivot (v for k in (a,b))
select any_value(n_name), arg_max(n_name, n_nationkey), list(n_name order by n_name), mode(n_regionkey), approx_count_distinct(n_name), first(n_name) from nation
select * from nation n, lateral (select * from region r where r.r_regionkey = n.n_regionkey order by r_name limit 1) x
select (select r_name from region where r_regionkey=n_regionkey) from nation
select n_regionkey = any(select r_regionkey from region), n_regionkey > all(select r_regionkey from region) from nation
select max(n_nationkey) over w, first_value(n_name order by n_comment) over w, nth_value(n_name, 2) over (order by n_name groups between 1 preceding and 1 following) from nation window w as (partition by n_regionkey)
select columns('n_.*') from nation
select e'a\nb', 'x'::blob, interval 1 month, timestamptz '2020-01-01 00:00:00+00', 1e400, 'nan'::double, uuid '00000000-0000-0000-0000-000000000001', '1'::bit, time '10:00', 'a'::enum('a','b'), 1::utinyint, true, null, 170141183460469231731687303715884105727, 1.5::decimal(30,3), [1,null], {a:null}, map{'k':1.5}
select n_nationkey % 2 = 0 as e, n_nationkey // 2, n_nationkey ** 2, -n_nationkey, ~n_nationkey::int, n_name || 'x', n_nationkey << 2, current_date from nation
select json_extract(n_comment, '$.a'), n_comment->>'b' from nation
select n_name collate nocase from nation order by n_name collate nocase desc nulls first
select try(n_name::int), error('x') from nation where n_name is not null and (n_name = 'a') is true
select count(*) from nation where random() < 0.5
select * from json_each('{"a":1}'), repeat('x',3), repeat_row(1,2,num_rows=3)
select exists(select 1 from nation), n_name from nation order by (select 1), 2
select sum(x) over (order by x) from range(5) r(x) order by 1 limit 3
select n_name, sum(n_nationkey) from nation group by n_name order by sum(n_nationkey) desc limit 3
select count(distinct n_name), count(distinct n_regionkey) from nation
select * from orders o1 join orders o2 using (o_orderkey) join customer on o1.o_custkey = c_custkey and c_name = 'x'
select * from lineitem join orders on l_orderkey=o_orderkey where o_orderkey in (select l_orderkey from lineitem where l_quantity>3 group by l_orderkey having sum(l_quantity)>300)
select * from nation where (n_nationkey, n_regionkey) in ((1,2),(3,4))
select * from nation where n_nationkey in (select unnest([1,2]))
select nullif(n_name,'a'), greatest(n_nationkey, 3), if(n_nationkey>1,'a','b'), list_aggregate([1,2],'sum'), date_trunc('month', date '2020-01-02') from nation
select row_number() over (partition by o_custkey order by o_orderdate rows between 1 preceding and current row), lag(o_totalprice, 2, 0 ignore nulls) over (order by o_orderkey), sum(o_totalprice) filter (where o_orderkey>3) over (order by o_orderdate range between interval 1 day preceding and unbounded following exclude ties) from orders
select o_orderstatus, count(*) from orders group by 1 having count(*) > 3 qualify row_number() over (order by count(*)) < 3
with customer_total_return as (select o_custkey ctr_customer, o_orderstatus ctr_store, sum(o_totalprice) total from orders where year(o_orderdate) = 1998 group by 1, 2) select c_name from customer_total_return ctr1, customer where ctr1.total > (select avg(total) * 1.2 from customer_total_return ctr2 where ctr1.ctr_store = ctr2.ctr_store) and ctr1.ctr_customer = c_custkey order by c_name limit 100
select n_name, r_name, sum(s_acctbal) s, rank() over (partition by grouping(n_name) + grouping(r_name), case when grouping(n_name) = 0 then r_name end order by sum(s_acctbal) desc) from supplier join nation on s_nationkey = n_nationkey join region on n_regionkey = r_regionkey group by rollup (r_name, n_name) order by 3 desc, 4 limit 100
select * from (select count(*) h8 from orders where o_shippriority = 8) s1, (select count(*) h9 from orders where o_shippriority = 9) s2
select count(*) from ((select distinct c_name, o_orderdate from orders, customer where o_custkey = c_custkey) except (select distinct s_name, l_shipdate from lineitem, supplier where l_suppkey = s_suppkey)) cool
select case when (select count(*) from lineitem where l_quantity between 1 and 20) > 74129 then (select avg(l_extendedprice) from lineitem where l_quantity between 1 and 20) else (select avg(l_tax) from lineitem) end b1 from region where r_regionkey = 1
select c_custkey from customer c where exists (select * from orders where c.c_custkey = o_custkey) and (exists (select * from supplier where s_nationkey = c.c_nationkey) or exists (select * from nation where n_nationkey = c.c_nationkey))
select o_custkey, sum(case when extract(dow from o_orderdate) = 0 then o_totalprice else null end) sun, stddev_samp(o_totalprice) / avg(o_totalprice) cov from orders group by o_custkey having case when avg(o_totalprice) = 0 then 0 else stddev_samp(o_totalprice) / avg(o_totalprice) end > 1
