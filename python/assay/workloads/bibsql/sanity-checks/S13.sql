-- S13: bibdate after the end of the data set
select filename, label from bibtab
where bibtimestamp > '2023.12.31'
order by filename, "year", label;
\expect rows :S13
