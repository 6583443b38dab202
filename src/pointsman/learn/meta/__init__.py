"""Meta-training of `metarl`: what runs under different truths teach a scheduler to expect of the next."""
