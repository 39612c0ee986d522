-- S20: no author and no editor
select filename, label from bibtab
where author is null
and editor is null
and bibtype in ('article', 'book', 'inproceedings', 'incollection', 'techreport',
                'phdthesis', 'mastersthesis')
order by filename, "year", label;
\expect rows :S20
