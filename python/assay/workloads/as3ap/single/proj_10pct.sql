-- proj_10pct: a projection to a tenth of the tuples (osdb: all)
select distinct col_signed from tenpct;
\expect rows :signed_values
