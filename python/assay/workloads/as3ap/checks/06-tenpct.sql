-- tenpct: a tenth of the tuples as values of most attributes, ten tuples of each; ten names
select *
from (select count(distinct col_signed) as signed_, min(col_signed) as least, max(col_signed) as most,
             count(distinct col_float) as floats, count(distinct col_double) as doubles, count(distinct col_decim) as decims,
             count(distinct col_name) as "names", count(distinct col_address) as addresses, count(distinct col_code) as codes,
             avg(1.0 * length(col_address)) as letters,
             sum(case when col_name = 'THE+ASAP+BENCHMARKS+' then 1 else 0 end) as magic,
             sum(case when col_signed < -250000000 then 1 else 0 end) as quarter,
             sum(case when col_decim <> col_double then 1 else 0 end) as not_double,
             (select max(n) from (select count(*) as n from tenpct group by col_double) by_double) as doubles_most,
             (select max(n) from (select count(*) as n from tenpct group by col_address) by_address) as addresses_most
      from tenpct) counted
where signed_ <> :signed_values or least <> -500000000 or most <> 500000000 or floats <> :tuples / 10 or doubles <> :tuples / 10
or decims <> :tuples / 10 or "names" <> 10 or addresses <> :tuples / 10 or codes <> :tuples or letters not between 19 and 21
or magic <> :tuples / 10 or quarter <> :high_variable or not_double <> 0 or doubles_most <> 10 or addresses_most <> 10;
