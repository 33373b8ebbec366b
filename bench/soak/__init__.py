"""`python -m bench.soak`: a long run of lsql-runner with faults, in a container with the limits of a pod."""
