-- S12: bibdate that is no date
select filename, label from bibtab
where bibdate is not null
and bibtimestamp is null
order by filename, "year", label;
\expect rows :S12
