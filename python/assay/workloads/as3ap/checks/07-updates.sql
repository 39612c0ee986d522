-- updates: the attributes that are unique; ten values of float with the shares of Zipf; a normal double
select *
from (select count(distinct col_signed) as signed_, count(distinct col_float) as floats, count(distinct col_double) as doubles,
             count(distinct col_decim) as decims, count(distinct col_code) as codes, count(distinct col_name) as "names",
             count(distinct col_address) as addresses, avg(1.0 * length(col_address)) as letters,
             max(length(col_address)) as longest,
             sum(case when col_float < -490000000 then 1 else 0 end) as first_rank,
             sum(case when col_float > 490000000 then 1 else 0 end) as tenth_rank,
             sum(case when col_double between -241700000 and 241700000 then 1e0 else 0e0 end) / count(*) as within_deviation,
             max(abs(col_double)) as farthest, sum(case when col_decim > 980000000 then 1 else 0 end) as decims_above,
             avg(case when col_decim > 980000000 then col_decim end) as report
      from updates) counted
where signed_ <> :tuples or floats <> 10 or doubles <> :tuples or decims <> :tuples or codes <> :tuples or "names" <> :tuples
or addresses <> :tuples or letters not between 19 and 21 or longest > 80
or first_rank not between :tuples / 2.92896825 - 2 and :tuples / 2.92896825 + 2
or tenth_rank not between :tuples / 29.2896825 - 2 and :tuples / 29.2896825 + 2
or within_deviation not between 0.682 and 0.683 or farthest > 1000000000 or decims_above <> :tuples / 100
or report not between :expected_report - 1 and :expected_report + 1;
