"""What MariaDB and MySQL have in common, which speak one protocol and grew from one program."""
