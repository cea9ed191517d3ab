"""What git knows: revisions, the line between them, what they do not share, and new ones made of them."""
