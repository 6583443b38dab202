"""Standard models, each with its published number of parameters, on synthetic data of the usual shapes."""
