-- texts: c is ten groups of eleven digits, pad is five
\for sbtest in 0..:tables - 1
select id, c, pad from :{sbtest}
where c not like '___________-___________-___________-___________-___________-___________-___________-___________-___________-___________%'
or pad not like '___________-___________-___________-___________-___________%';
\endfor
