"""Kills a processor at chosen and at random instants, and compares its targets with a model.

    programs.py   the programs, their records, and a model of each in plain Python
    results.py    compares the records of a target with the model: lost, doubled, disordered, unexpected
    points.py     the points of the code at which a JVM is killed; Byteman, a Java agent, adds the kill to the classes
    scenario.py   a processor that runs several programs: feeds it, kills it, starts it again, checks its targets

The product has no hooks for these tests. The targets are read by a consumer that sees all records and by one that sees
only committed ones; both must agree with the model. `GUARANTEE` selects what is required: `exactly_once` (each result
once), or `at_least_once` (no result is lost; results that were written again are counted, and must be where a point
predicts them).

`make test-faults` runs all of it; `make test-faults KILLS=200 SEED=7` kills that many processors at random instants.
"""
