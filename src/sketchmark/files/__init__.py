"""Files on disk: written whole, read line by line, pictures under their digest, rows of published data sets."""
