"""Whether heads with a label of what they do also matter: results of several methods on one map."""
