-- by-title: all entries that have the first words of a random entry's title anywhere in theirs
\set head concat(substr('ABCDEFGHIJKLMNOPQRSTUVW', random(1, 23), 1), substr('aeiouhrly', random(1, 9), 1))
\set least concat(:head, substr('abcdefghijklm', random(1, 13), 1))
\set most concat(:head, '~')
select min(label) as label from bibtab where label >= :least and label < :most \gset
select min(title) as title from bibtab where label = :label \gset
\if :title <> ''
\set pattern concat('%', substr(:title, 1, 16), '%')
select filename, label, author, title, "year" from bibtab
where title like :pattern
order by "year", filename, label;
\endif
