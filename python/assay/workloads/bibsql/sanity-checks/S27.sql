-- S27: one label for different entries
select label, count(distinct entry) from bibtab
group by label
having count(distinct entry) > 1
order by label;
\expect rows :S27
