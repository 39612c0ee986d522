-- by-author: all entries whose authors begin as those of a random entry do
\set head concat(substr('ABCDEFGHIJKLMNOPQRSTUVW', random(1, 23), 1), substr('aeiouhrly', random(1, 9), 1))
\set least concat(:head, substr('abcdefghijklm', random(1, 13), 1))
\set most concat(:head, '~')
select min(label) as label from bibtab where label >= :least and label < :most \gset
select min(author) as author from bibtab where label = :label \gset
\if :author <> ''
\set pattern concat(substr(:author, 1, 12), '%')
select filename, label, author, title, "year" from bibtab
where author like :pattern
order by "year", filename, label;
\endif
