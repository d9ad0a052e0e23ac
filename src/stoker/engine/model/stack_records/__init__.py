"""Records of a stack besides its resources: change sets, exports, snapshots, watches."""
