-- Db2 cannot compare large objects with =, nor count different ones: entries are compared in pairs
-- S27: one label for different entries
select a.label, count(*) from bibtab a
where not exists (
  select 1 from bibtab b
  where (b.label = a.label or b.label is null and a.label is null) and rid(b) < rid(a) and dbms_lob.compare(a.entry, b.entry) = 0)
group by a.label
having count(*) > 1
order by a.label;
\expect rows :S27
