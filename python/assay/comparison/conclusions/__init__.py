"""What the factors of an experiment change, decided and said in a sentence."""
