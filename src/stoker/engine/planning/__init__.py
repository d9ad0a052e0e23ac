"""What has to happen to a stack, decided before anything is done."""
