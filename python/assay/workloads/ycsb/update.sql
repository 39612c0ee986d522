-- update: one field of a record, or all, whatever they held
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
\if :writeallfields
\set value0 substr(concat(format('%018d', :stamp), :key, ':0:', \
    hash_text(:stamp, :fill, :letters, :hash - 0)), 1, :fieldlength)
\set value1 case when :fieldcount > 1 then substr(concat(format('%018d', :stamp), :key, ':1:', \
    hash_text(:stamp, :fill, :letters, :hash - 1)), 1, :fieldlength) end
\set value2 case when :fieldcount > 2 then substr(concat(format('%018d', :stamp), :key, ':2:', \
    hash_text(:stamp, :fill, :letters, :hash - 2)), 1, :fieldlength) end
\set value3 case when :fieldcount > 3 then substr(concat(format('%018d', :stamp), :key, ':3:', \
    hash_text(:stamp, :fill, :letters, :hash - 3)), 1, :fieldlength) end
\set value4 case when :fieldcount > 4 then substr(concat(format('%018d', :stamp), :key, ':4:', \
    hash_text(:stamp, :fill, :letters, :hash - 4)), 1, :fieldlength) end
\set value5 case when :fieldcount > 5 then substr(concat(format('%018d', :stamp), :key, ':5:', \
    hash_text(:stamp, :fill, :letters, :hash - 5)), 1, :fieldlength) end
\set value6 case when :fieldcount > 6 then substr(concat(format('%018d', :stamp), :key, ':6:', \
    hash_text(:stamp, :fill, :letters, :hash - 6)), 1, :fieldlength) end
\set value7 case when :fieldcount > 7 then substr(concat(format('%018d', :stamp), :key, ':7:', \
    hash_text(:stamp, :fill, :letters, :hash - 7)), 1, :fieldlength) end
\set value8 case when :fieldcount > 8 then substr(concat(format('%018d', :stamp), :key, ':8:', \
    hash_text(:stamp, :fill, :letters, :hash - 8)), 1, :fieldlength) end
\set value9 case when :fieldcount > 9 then substr(concat(format('%018d', :stamp), :key, ':9:', \
    hash_text(:stamp, :fill, :letters, :hash - 9)), 1, :fieldlength) end
update usertable set field0 = :value0, field1 = :value1, field2 = :value2, field3 = :value3, field4 = :value4,
    field5 = :value5, field6 = :value6, field7 = :value7, field8 = :value8, field9 = :value9
where ycsb_key = :key;
\expect rows 1
\else
\set field random(0, :fieldcount - 1)
\set value substr(concat(format('%018d', :stamp), :key, ':', :field, ':', \
    hash_text(:stamp, :fill, :letters, :hash - :field)), 1, :fieldlength)
update usertable set :{field} = :value where ycsb_key = :key;
\expect rows 1
\endif
