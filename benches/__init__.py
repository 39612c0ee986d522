"""What our own tool costs: ratios against its peers, run alternately on the same machine."""
