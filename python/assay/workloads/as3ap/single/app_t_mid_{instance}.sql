-- app_t_mid: a tuple in the middle of the keys is added
insert into updates values
(5005, 5005, 50005, 50005.00, 50005.00, 50005.00, '1988-01-01 00:00:00', 'CONTROLLER', 'ALICE IN WONDERLAND', 'UNIVERSITY OF ILLINOIS AT CHICAGO');
\expect rows 1
