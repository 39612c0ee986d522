-- insert: a new record, with the number behind the last one that a client has taken
\next insert_number
\set record :recordcount + :insert_number
\set hash case when :is_ordered then :record else abs(hash_fnv1a(:record, 0)) end
\set key concat('user', case when :hash < :padded then numeral(:hash, :zeropadding, '0123456789') else :hash end)
\set stamp (:client_id % 10000) * 100000000 + (:transaction_number + 1) % 100000000
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
insert into usertable (ycsb_key, field0, field1, field2, field3, field4, field5, field6, field7, field8, field9)
values (:key, :value0, :value1, :value2, :value3, :value4, :value5, :value6, :value7, :value8, :value9);
\expect rows 1
