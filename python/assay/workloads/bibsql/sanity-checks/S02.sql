-- S02: confused ISBN-13: ten characters where thirteen belong
select distinct filename from bibtab
where {matches(isbn13, '^[0-9Xx]{10}$', '[0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx]')}
or {matches(isbn13, '^[0-9Xx]{10}[^0-9]', '[0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][^0-9]%')}
or {matches(isbn13, '[^0-9Xx][0-9Xx]{10}$', '%[^0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx]')}
or {matches(isbn13, '[^0-9Xx][0-9Xx]{10}[^0-9Xx]', '%[^0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][0-9Xx][^0-9Xx]%')}
order by filename;
\expect rows :S02
