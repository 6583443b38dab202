"""Suite v1 and three real logs as several pages of results run them, and published runs of classical policies."""
