"""What is told of a range of revisions: a bisection's report, and a night's."""
