"""What is measured, one file a question."""
