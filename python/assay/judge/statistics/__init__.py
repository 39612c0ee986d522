"""Takes numbers; returns estimates with intervals, orders, outliers, and how many are needed."""
