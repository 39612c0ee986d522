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
from usertable where {from_key(ycsb_key, :key)} limit :length;
\expect value :key
\aset last_
\if :dataintegrity
\set last_hash substr(:last_ycsb_key, 5)
\assert is_sealed(:last_field0, :last_hash - 0)
\assert :fieldcount <= 1 or is_sealed(:last_field1, :last_hash - 1)
\assert :fieldcount <= 2 or is_sealed(:last_field2, :last_hash - 2)
\assert :fieldcount <= 3 or is_sealed(:last_field3, :last_hash - 3)
\assert :fieldcount <= 4 or is_sealed(:last_field4, :last_hash - 4)
\assert :fieldcount <= 5 or is_sealed(:last_field5, :last_hash - 5)
\assert :fieldcount <= 6 or is_sealed(:last_field6, :last_hash - 6)
\assert :fieldcount <= 7 or is_sealed(:last_field7, :last_hash - 7)
\assert :fieldcount <= 8 or is_sealed(:last_field8, :last_hash - 8)
\assert :fieldcount <= 9 or is_sealed(:last_field9, :last_hash - 9)
\endif
\else
\set field random(0, :fieldcount - 1)
select ycsb_key, :{field} as one
from usertable where {from_key(ycsb_key, :key)} limit :length;
\expect value :key
\aset last_
\if :dataintegrity
\set last_hash substr(:last_ycsb_key, 5)
\assert is_sealed(:last_one, :last_hash - :field)
\endif
\endif
