"""Plans and deployments as the commands show them."""
