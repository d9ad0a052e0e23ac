"""What the build enforces and measures about the code itself."""
