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
\set value0 sealed(concat(format('%018d', :stamp), :key, ':0:', \
    text(:fieldlength, :fieldlength)), :fieldlength, :hash - 0)
\set value1 case when :fieldcount > 1 then sealed(concat(format('%018d', :stamp), :key, ':1:', \
    text(:fieldlength, :fieldlength)), :fieldlength, :hash - 1) end
\set value2 case when :fieldcount > 2 then sealed(concat(format('%018d', :stamp), :key, ':2:', \
    text(:fieldlength, :fieldlength)), :fieldlength, :hash - 2) end
\set value3 case when :fieldcount > 3 then sealed(concat(format('%018d', :stamp), :key, ':3:', \
    text(:fieldlength, :fieldlength)), :fieldlength, :hash - 3) end
\set value4 case when :fieldcount > 4 then sealed(concat(format('%018d', :stamp), :key, ':4:', \
    text(:fieldlength, :fieldlength)), :fieldlength, :hash - 4) end
\set value5 case when :fieldcount > 5 then sealed(concat(format('%018d', :stamp), :key, ':5:', \
    text(:fieldlength, :fieldlength)), :fieldlength, :hash - 5) end
\set value6 case when :fieldcount > 6 then sealed(concat(format('%018d', :stamp), :key, ':6:', \
    text(:fieldlength, :fieldlength)), :fieldlength, :hash - 6) end
\set value7 case when :fieldcount > 7 then sealed(concat(format('%018d', :stamp), :key, ':7:', \
    text(:fieldlength, :fieldlength)), :fieldlength, :hash - 7) end
\set value8 case when :fieldcount > 8 then sealed(concat(format('%018d', :stamp), :key, ':8:', \
    text(:fieldlength, :fieldlength)), :fieldlength, :hash - 8) end
\set value9 case when :fieldcount > 9 then sealed(concat(format('%018d', :stamp), :key, ':9:', \
    text(:fieldlength, :fieldlength)), :fieldlength, :hash - 9) end
update usertable set field0 = :value0, field1 = :value1, field2 = :value2, field3 = :value3, field4 = :value4,
    field5 = :value5, field6 = :value6, field7 = :value7, field8 = :value8, field9 = :value9
where ycsb_key = :key;
{expect_changed(1)}
\else
\set field random(0, :fieldcount - 1)
\set value sealed(concat(format('%018d', :stamp), :key, ':', :field, ':', \
    text(:fieldlength, :fieldlength)), :fieldlength, :hash - :field)
update usertable set :{field} = :value where ycsb_key = :key;
{expect_changed(1)}
\endif
