-- index_groups: on the attribute of the groups
create index tenktup1_onepercent on tenktup1 (onepercent);
