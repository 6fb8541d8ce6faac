"""What people see: linked maps of heads in the browser. Never loads torch or transformers."""
