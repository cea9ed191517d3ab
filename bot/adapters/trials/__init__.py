"""From a built tree to numbers: what one trial executes, the workers that run pairs, the bench above."""
