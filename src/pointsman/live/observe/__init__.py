"""Another scheduler decides, and is observed: what the policy would have done, and what that would have been worth."""
