-- read-modify-write: a record is read, and one of its fields, or all, written with a version one higher
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
\set stamp (:client_id % 10000) * 100000000 + (:transaction_number + 1) % 100000000
\set field random(0, :fieldcount - 1)
\if :in_transaction
\begin {strictest_level}
\endif
\if :readallfields or :writeallfields
select field0, field1, field2, field3, field4, field5, field6, field7, field8, field9
from usertable where ycsb_key = :key
\gset
\if :dataintegrity
\assert is_sealed(:field0, :hash - 0)
\assert :fieldcount <= 1 or is_sealed(:field1, :hash - 1)
\assert :fieldcount <= 2 or is_sealed(:field2, :hash - 2)
\assert :fieldcount <= 3 or is_sealed(:field3, :hash - 3)
\assert :fieldcount <= 4 or is_sealed(:field4, :hash - 4)
\assert :fieldcount <= 5 or is_sealed(:field5, :hash - 5)
\assert :fieldcount <= 6 or is_sealed(:field6, :hash - 6)
\assert :fieldcount <= 7 or is_sealed(:field7, :hash - 7)
\assert :fieldcount <= 8 or is_sealed(:field8, :hash - 8)
\assert :fieldcount <= 9 or is_sealed(:field9, :hash - 9)
\endif
\set one case when :field = 0 then :field0 \
    when :field = 1 then :field1 \
    when :field = 2 then :field2 \
    when :field = 3 then :field3 \
    when :field = 4 then :field4 \
    when :field = 5 then :field5 \
    when :field = 6 then :field6 \
    when :field = 7 then :field7 \
    when :field = 8 then :field8 \
    when :field = 9 then :field9 end
\else
select :{field} as one from usertable where ycsb_key = :key
\gset
\if :dataintegrity
\assert is_sealed(:one, :hash - :field)
\endif
\endif
\if :writeallfields
\set header (substr(:field0, 1, 6) + 1) * 1000000000000 + :stamp
\set value0 sealed(concat(format('%018d', :header), :key, ':0:', \
    text(:fieldlength, :fieldlength)), :fieldlength, :hash - 0)
\set header case when :fieldcount > 1 then (substr(:field1, 1, 6) + 1) * 1000000000000 + :stamp end
\set value1 sealed(concat(format('%018d', :header), :key, ':1:', \
    text(:fieldlength, :fieldlength)), :fieldlength, :hash - 1)
\set header case when :fieldcount > 2 then (substr(:field2, 1, 6) + 1) * 1000000000000 + :stamp end
\set value2 sealed(concat(format('%018d', :header), :key, ':2:', \
    text(:fieldlength, :fieldlength)), :fieldlength, :hash - 2)
\set header case when :fieldcount > 3 then (substr(:field3, 1, 6) + 1) * 1000000000000 + :stamp end
\set value3 sealed(concat(format('%018d', :header), :key, ':3:', \
    text(:fieldlength, :fieldlength)), :fieldlength, :hash - 3)
\set header case when :fieldcount > 4 then (substr(:field4, 1, 6) + 1) * 1000000000000 + :stamp end
\set value4 sealed(concat(format('%018d', :header), :key, ':4:', \
    text(:fieldlength, :fieldlength)), :fieldlength, :hash - 4)
\set header case when :fieldcount > 5 then (substr(:field5, 1, 6) + 1) * 1000000000000 + :stamp end
\set value5 sealed(concat(format('%018d', :header), :key, ':5:', \
    text(:fieldlength, :fieldlength)), :fieldlength, :hash - 5)
\set header case when :fieldcount > 6 then (substr(:field6, 1, 6) + 1) * 1000000000000 + :stamp end
\set value6 sealed(concat(format('%018d', :header), :key, ':6:', \
    text(:fieldlength, :fieldlength)), :fieldlength, :hash - 6)
\set header case when :fieldcount > 7 then (substr(:field7, 1, 6) + 1) * 1000000000000 + :stamp end
\set value7 sealed(concat(format('%018d', :header), :key, ':7:', \
    text(:fieldlength, :fieldlength)), :fieldlength, :hash - 7)
\set header case when :fieldcount > 8 then (substr(:field8, 1, 6) + 1) * 1000000000000 + :stamp end
\set value8 sealed(concat(format('%018d', :header), :key, ':8:', \
    text(:fieldlength, :fieldlength)), :fieldlength, :hash - 8)
\set header case when :fieldcount > 9 then (substr(:field9, 1, 6) + 1) * 1000000000000 + :stamp end
\set value9 sealed(concat(format('%018d', :header), :key, ':9:', \
    text(:fieldlength, :fieldlength)), :fieldlength, :hash - 9)
update usertable set field0 = :value0, field1 = :value1, field2 = :value2, field3 = :value3, field4 = :value4,
    field5 = :value5, field6 = :value6, field7 = :value7, field8 = :value8, field9 = :value9
where ycsb_key = :key;
\expect rows 1
\else
\set header (substr(:one, 1, 6) + 1) * 1000000000000 + :stamp
\set value sealed(concat(format('%018d', :header), :key, ':', :field, ':', \
    text(:fieldlength, :fieldlength)), :fieldlength, :hash - :field)
update usertable set :{field} = :value where ycsb_key = :key;
\expect rows 1
\endif
\if :in_transaction
\commit
\endif
