"""The published acquisition of trials (Mühlbauer, Apel, Siegmund, ASE 2020, section 3.4)."""
