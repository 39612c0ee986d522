"""Takes a `Report`; returns one HTML file that needs nothing else: no network, no other file.

Charts are SVG in the page. The script sorts tables and opens the details that a link leads to;
without it the page shows the same.
"""
