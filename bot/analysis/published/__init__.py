"""The published estimator of change points over commits and options (Mühlbauer, Apel, Siegmund, ASE 2020)."""
