"""Takes experiments that are published; gives what a reader of one needs to know, and a page that
lists many of them."""
