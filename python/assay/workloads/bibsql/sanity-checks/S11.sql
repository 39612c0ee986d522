-- S11: CODEN of neither four nor six characters
select filename, label from bibtab
where coden is not null
and coden not like '%,%'
and not {matches(coden, '^[A-Z0-9]{4}$', '[A-Z0-9][A-Z0-9][A-Z0-9][A-Z0-9]')}
and not {matches(coden, '^[A-Z0-9]{6}$', '[A-Z0-9][A-Z0-9][A-Z0-9][A-Z0-9][A-Z0-9][A-Z0-9]')}
order by filename, "year", label;
\expect rows :S11
