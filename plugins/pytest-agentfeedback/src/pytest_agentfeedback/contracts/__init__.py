"""What gates, watermark stores and installers promise, as test classes beside `ReaderConformance`."""
