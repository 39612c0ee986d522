-- tenktup1: all tuples by their key
select unique1, unique2, two, four, ten, twenty, onepercent, tenpercent, twentypercent, fiftypercent, unique3, evenonepercent, oddonepercent, stringu1, stringu2, string4
from tenktup1 order by unique2;
