-- proj_100: a projection to a hundred tuples (osdb: ten thousand)
select distinct col_address, col_signed from hundred;
\expect rows :pairs
