"""One run of an algorithm, illustrated: who is played when, what is released, what it charges."""
