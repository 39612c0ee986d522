-- values: each field holds a value that was written for its key
\for field in 0..:fieldcount - 1
\set tag concat(':', :field, ':')
select ycsb_key, :{field} as "found"
from usertable
where :{field} is null or length(:{field}) <> :fieldlength
or substr(:{field}, 19, length(ycsb_key)) <> ycsb_key
or substr(:{field}, 19 + length(ycsb_key), 3) <> :tag;
\endfor
