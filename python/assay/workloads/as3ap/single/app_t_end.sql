-- app_t_end: a tuple after the last key is added
insert into updates values
(1000000001, 50005, 50005, 50005.00, 50005.00, 50005.00, '1988-01-01 00:00:00', 'CONTROLLER', 'ALICE IN WONDERLAND', 'UNIVERSITY OF ILLINOIS AT CHICAGO');
\expect rows 1
