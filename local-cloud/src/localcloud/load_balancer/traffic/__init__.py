"""What carries traffic: listeners, pools, checks of members, and what chooses between them."""
