-- The verdict `indicative` is called `unreliable`. That a cell was run once limits no number: it is a note of `valid`.

UPDATE runs SET verdict = 'unreliable' WHERE verdict = 'indicative';

UPDATE cells SET verdict = 'valid' WHERE verdict = 'indicative' AND verdict_reason = 'one repetition';

UPDATE cells SET verdict = 'unreliable' WHERE verdict = 'indicative';

UPDATE cells SET verdict_reason = replace(replace(verdict_reason, '; one repetition', ''), 'one repetition; ', '');

UPDATE cells SET warnings =
  (SELECT json_group_array(json(value)) FROM json_each(warnings) WHERE value ->> 'name' <> 'one-repetition')
WHERE warnings LIKE '%one-repetition%';
