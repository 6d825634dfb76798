"""What a text says, read by code alone: words, numbers, dates, passages. No model is asked."""
