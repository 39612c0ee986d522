"""Takes the claims of a paper and the cells it is judged on; returns each claim with its
judgement."""
