-- read: one record by its key
\acknowledged inserted insert_number
\set records :recordcount + :inserted
\set record case \
    when :is_zipfian then hash_consistent(random_zipfian(1, 10000000000, 0.99), :records) \
    when :is_latest then :records - random_zipfian(1, :records, 0.99) \
    when :is_uniform then random(0, :recordcount - 1) \
    when :is_hotspot then case when uniform(0, 1) < :hotspotopnfraction or :hot >= :recordcount \
        then random(0, :hot - 1) else random(:hot, :recordcount - 1) end \
    when :is_exponential then :records - 1 - random_exponential(0, :records - 1, 3.4952) \
    else :transaction_number % :recordcount end
\set hash case when :is_ordered then :record else abs(hash_fnv1a(:record, 0)) end
\set key concat('user', case when :hash < :padded then numeral(:hash, :zeropadding, '0123456789') else :hash end)
\if :readallfields
select field0, field1, field2, field3, field4, field5, field6, field7, field8, field9
from usertable where ycsb_key = :key
\gset
\if :dataintegrity
\assert :field0 = substr(concat(substr(:field0, 1, 18), :key, ':0:', \
    hash_text(substr(:field0, 1, 18), :fill, :letters, :hash - 0)), 1, :fieldlength)
\assert :fieldcount <= 1 or :field1 = substr(concat(substr(:field1, 1, 18), :key, ':1:', \
    hash_text(substr(:field1, 1, 18), :fill, :letters, :hash - 1)), 1, :fieldlength)
\assert :fieldcount <= 2 or :field2 = substr(concat(substr(:field2, 1, 18), :key, ':2:', \
    hash_text(substr(:field2, 1, 18), :fill, :letters, :hash - 2)), 1, :fieldlength)
\assert :fieldcount <= 3 or :field3 = substr(concat(substr(:field3, 1, 18), :key, ':3:', \
    hash_text(substr(:field3, 1, 18), :fill, :letters, :hash - 3)), 1, :fieldlength)
\assert :fieldcount <= 4 or :field4 = substr(concat(substr(:field4, 1, 18), :key, ':4:', \
    hash_text(substr(:field4, 1, 18), :fill, :letters, :hash - 4)), 1, :fieldlength)
\assert :fieldcount <= 5 or :field5 = substr(concat(substr(:field5, 1, 18), :key, ':5:', \
    hash_text(substr(:field5, 1, 18), :fill, :letters, :hash - 5)), 1, :fieldlength)
\assert :fieldcount <= 6 or :field6 = substr(concat(substr(:field6, 1, 18), :key, ':6:', \
    hash_text(substr(:field6, 1, 18), :fill, :letters, :hash - 6)), 1, :fieldlength)
\assert :fieldcount <= 7 or :field7 = substr(concat(substr(:field7, 1, 18), :key, ':7:', \
    hash_text(substr(:field7, 1, 18), :fill, :letters, :hash - 7)), 1, :fieldlength)
\assert :fieldcount <= 8 or :field8 = substr(concat(substr(:field8, 1, 18), :key, ':8:', \
    hash_text(substr(:field8, 1, 18), :fill, :letters, :hash - 8)), 1, :fieldlength)
\assert :fieldcount <= 9 or :field9 = substr(concat(substr(:field9, 1, 18), :key, ':9:', \
    hash_text(substr(:field9, 1, 18), :fill, :letters, :hash - 9)), 1, :fieldlength)
\endif
\else
\set field random(0, :fieldcount - 1)
select :{field} as one from usertable where ycsb_key = :key
\gset
\if :dataintegrity
\assert :one = substr(concat(substr(:one, 1, 18), :key, ':', :field, ':', \
    hash_text(substr(:one, 1, 18), :fill, :letters, :hash - :field)), 1, :fieldlength)
\endif
\endif
