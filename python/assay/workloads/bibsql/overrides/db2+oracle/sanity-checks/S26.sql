-- Db2 and Oracle have no REGEXP operator but REGEXP_LIKE; SUBSTR as in S05
-- S26: year in the label differs from the year
select filename, label from bibtab
where regexp_like(label, '^[^:]+:[0-9]{4}:')
and regexp_like(year, '^[0-9]{4}$')
and substr(label, instr(label, ':') + 1, 4) <> year
order by filename, year, label;
\expect rows :S26
