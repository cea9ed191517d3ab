"""What strangers wrote, read in processes that can do nothing but read and answer."""
