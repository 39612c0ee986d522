-- by-key: the entries of a citation key: the first behind a random place of the alphabet; where none begins so, no entry
\set head concat(substr('ABCDEFGHIJKLMNOPQRSTUVW', random(1, 23), 1), substr('aeiouhrly', random(1, 9), 1))
\set least concat(:head, substr('abcdefghijklm', random(1, 13), 1))
\set most concat(:head, '~')
select min(label) as label from bibtab where label >= :least and label < :most \gset
select filename, label, entry from bibtab where label = :label;
