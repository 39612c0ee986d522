-- updates: rows that are not there although their update was acknowledged, or are there without one
select count(*) as "found", :records + :clients * :updates as expected
from "data"
having count(*) <> :records and count(*) <> :records + :clients * :updates;
