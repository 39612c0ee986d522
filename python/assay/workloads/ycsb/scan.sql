-- scan: records from a key on
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
\set length case when :is_uniform_scan then random(:minscanlength, :maxscanlength) \
    else random_zipfian(:minscanlength, :maxscanlength, 0.99) end
-- The first record is the one that was asked for; of the last one the values are looked at.
\if :readallfields
select ycsb_key, field0, field1, field2, field3, field4, field5, field6, field7, field8, field9
from usertable where ycsb_key >= :key order by ycsb_key limit :length;
\expect value :key
\aset last_
\if :dataintegrity
\set last_hash substr(:last_ycsb_key, 5)
\assert :last_field0 = substr(concat(substr(:last_field0, 1, 18), :last_ycsb_key, ':0:', \
    hash_text(substr(:last_field0, 1, 18), :fill, :letters, :last_hash - 0)), 1, :fieldlength)
\assert :fieldcount <= 1 or :last_field1 = substr(concat(substr(:last_field1, 1, 18), :last_ycsb_key, ':1:', \
    hash_text(substr(:last_field1, 1, 18), :fill, :letters, :last_hash - 1)), 1, :fieldlength)
\assert :fieldcount <= 2 or :last_field2 = substr(concat(substr(:last_field2, 1, 18), :last_ycsb_key, ':2:', \
    hash_text(substr(:last_field2, 1, 18), :fill, :letters, :last_hash - 2)), 1, :fieldlength)
\assert :fieldcount <= 3 or :last_field3 = substr(concat(substr(:last_field3, 1, 18), :last_ycsb_key, ':3:', \
    hash_text(substr(:last_field3, 1, 18), :fill, :letters, :last_hash - 3)), 1, :fieldlength)
\assert :fieldcount <= 4 or :last_field4 = substr(concat(substr(:last_field4, 1, 18), :last_ycsb_key, ':4:', \
    hash_text(substr(:last_field4, 1, 18), :fill, :letters, :last_hash - 4)), 1, :fieldlength)
\assert :fieldcount <= 5 or :last_field5 = substr(concat(substr(:last_field5, 1, 18), :last_ycsb_key, ':5:', \
    hash_text(substr(:last_field5, 1, 18), :fill, :letters, :last_hash - 5)), 1, :fieldlength)
\assert :fieldcount <= 6 or :last_field6 = substr(concat(substr(:last_field6, 1, 18), :last_ycsb_key, ':6:', \
    hash_text(substr(:last_field6, 1, 18), :fill, :letters, :last_hash - 6)), 1, :fieldlength)
\assert :fieldcount <= 7 or :last_field7 = substr(concat(substr(:last_field7, 1, 18), :last_ycsb_key, ':7:', \
    hash_text(substr(:last_field7, 1, 18), :fill, :letters, :last_hash - 7)), 1, :fieldlength)
\assert :fieldcount <= 8 or :last_field8 = substr(concat(substr(:last_field8, 1, 18), :last_ycsb_key, ':8:', \
    hash_text(substr(:last_field8, 1, 18), :fill, :letters, :last_hash - 8)), 1, :fieldlength)
\assert :fieldcount <= 9 or :last_field9 = substr(concat(substr(:last_field9, 1, 18), :last_ycsb_key, ':9:', \
    hash_text(substr(:last_field9, 1, 18), :fill, :letters, :last_hash - 9)), 1, :fieldlength)
\endif
\else
\set field random(0, :fieldcount - 1)
select ycsb_key, :{field} as one
from usertable where ycsb_key >= :key order by ycsb_key limit :length;
\expect value :key
\aset last_
\if :dataintegrity
\set last_hash substr(:last_ycsb_key, 5)
\assert :last_one = substr(concat(substr(:last_one, 1, 18), :last_ycsb_key, ':', :field, ':', \
    hash_text(substr(:last_one, 1, 18), :fill, :letters, :last_hash - :field)), 1, :fieldlength)
\endif
\endif
