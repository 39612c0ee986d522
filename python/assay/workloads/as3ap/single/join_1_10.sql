-- join_1_10: a one-to-ten join
select u.col_key, u.col_name, t.col_name, t.col_signed from uniques u, tenpct t
where u.col_key = t.col_signed
and u.col_key in (500000000, 600000000, 700000000, 800000000, 900000000);
\expect rows case when :osdb then NULL else :joined_one_to_ten end
