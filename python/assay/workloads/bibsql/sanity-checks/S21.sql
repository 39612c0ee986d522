-- S21: no title and no booktitle
select filename, label from bibtab
where title is null
and booktitle is null
order by filename, "year", label;
\expect rows :S21
