"""What is seen of a server while clients work: samples, their cost, its silence and its death."""
