-- Attributes that follow from the keys
select relation, key_of_it
from (select 'tenktup1' as relation, unique2 as key_of_it from tenktup1
      where two <> unique1 % 2 or four <> unique1 % 4 or ten <> unique1 % 10 or twenty <> unique1 % 20
      or onepercent <> unique1 % 100 or tenpercent <> unique1 % 10 or twentypercent <> unique1 % 5 or fiftypercent <> unique1 % 2
      or unique3 <> unique1 or evenonepercent <> 2 * onepercent or oddonepercent <> 2 * onepercent + 1
      or substr(string4, 1, 5) <> case unique2 % 4 when 0 then 'AAAAx' when 1 then 'HHHHx' when 2 then 'OOOOx' else 'VVVVx' end
      union all select 'tenktup2' as relation, unique2 as key_of_it from tenktup2
      where two <> unique1 % 2 or four <> unique1 % 4 or ten <> unique1 % 10 or twenty <> unique1 % 20
      or onepercent <> unique1 % 100 or tenpercent <> unique1 % 10 or twentypercent <> unique1 % 5 or fiftypercent <> unique1 % 2
      or unique3 <> unique1 or evenonepercent <> 2 * onepercent or oddonepercent <> 2 * onepercent + 1
      or substr(string4, 1, 5) <> case unique2 % 4 when 0 then 'AAAAx' when 1 then 'HHHHx' when 2 then 'OOOOx' else 'VVVVx' end
      union all select 'onektup' as relation, unique2 as key_of_it from onektup
      where two <> unique1 % 2 or four <> unique1 % 4 or ten <> unique1 % 10 or twenty <> unique1 % 20
      or onepercent <> unique1 % 100 or tenpercent <> unique1 % 10 or twentypercent <> unique1 % 5 or fiftypercent <> unique1 % 2
      or unique3 <> unique1 or evenonepercent <> 2 * onepercent or oddonepercent <> 2 * onepercent + 1
      or substr(string4, 1, 5) <> case unique2 % 4 when 0 then 'AAAAx' when 1 then 'HHHHx' when 2 then 'OOOOx' else 'VVVVx' end) wrong;
