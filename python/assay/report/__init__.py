"""Takes records; gives tables, figures and text. Pure: reads nothing but what it is given."""
