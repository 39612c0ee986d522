-- No account is in debt.
SELECT id FROM accounts WHERE balance < 0;
