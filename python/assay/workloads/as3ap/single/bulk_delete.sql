-- bulk_delete: the changed ones are removed
delete from updates where col_key < 0;
\expect rows 1000
