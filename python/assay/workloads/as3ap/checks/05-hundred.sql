-- hundred: a hundred values of each attribute, n/100 tuples of each; chosen together (spec), or in all pairs of signed and address (osdb)
select *
from (select count(distinct col_signed) as signed_, min(col_signed) as least, max(col_signed) as most,
             count(distinct col_float) as floats, count(distinct col_double) as doubles, count(distinct col_decim) as decims,
             count(distinct col_name) as "names", count(distinct col_address) as addresses, count(distinct col_code) as codes,
             (select count(*) from (select distinct col_signed, col_address from hundred) two) as pairs,
             (select count(*) from (select distinct col_signed, col_float, col_double, col_decim, col_name, col_address
                                    from hundred) six) as tuples,
             (select min(n) from (select count(*) as n from hundred group by col_name) by_name) as fewest,
             (select max(n) from (select count(*) as n from hundred group by col_name) by_name) as most_often,
             sum(case when col_address = 'SILICON VALLEY' then 1 else 0 end) as in_the_valley
      from hundred) counted
where signed_ <> 100 or least <> 100 or most <> 199 or floats <> 100 or doubles <> 100 or decims <> 100 or "names" <> 100
or addresses <> 100 or codes <> :tuples or pairs <> :pairs or (tuples <> 100 and :variant = 'spec')
or fewest <> :tuples / 100 or most_often <> :tuples / 100 or in_the_valley <> :tuples / 100;
