-- uniques: the attributes that are unique, and the values of the others
select *
from (select count(distinct col_signed) as signed_, min(col_signed) as least, count(distinct col_float) as floats,
             count(distinct col_decim) as decims, count(distinct col_code) as codes, count(distinct col_name) as "names",
             count(distinct col_address) as addresses, avg(1.0 * length(col_address)) as letters,
             min(length(col_address)) as shortest, max(length(col_address)) as longest,
             sum(case when col_decim > 980000000 then 1 else 0 end) as decims_above,
             sum(case when col_double between -241700000 and 241700000 then 1e0 else 0e0 end) / count(*) as within_deviation
      from uniques) counted
where signed_ <> :tuples or least <> -500000000 or floats <> :floats or decims <> :tuples or codes <> :tuples or "names" <> :tuples
or addresses <> :tuples or letters not between 19 and 21 or shortest < 2 or longest > 80 or decims_above <> :tuples / 100
or within_deviation not between 0.66 and 0.705;
