"""Several runs of one command: which there are, which are finished already, and the cells of a grid."""
