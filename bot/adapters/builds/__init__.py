"""From a revision to a built tree: recognised, checked out, built, kept, and given its workloads."""
