-- insert: a new record, with the number behind the last one that a client has taken
\next insert_number
\set record :recordcount + :insert_number
\set hash case when :is_ordered then :record else abs(hash_fnv1a(:record, 0)) end
\set key concat('user', case when :hash < :padded then numeral(:hash, :zeropadding, '0123456789') else :hash end)
\set stamp (:client_id % 10000) * 100000000 + (:transaction_number + 1) % 100000000
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
insert into usertable (ycsb_key, field0, field1, field2, field3, field4, field5, field6, field7, field8, field9)
values (:key, :value0, :value1, :value2, :value3, :value4, :value5, :value6, :value7, :value8, :value9);
{expect_changed(1)}
