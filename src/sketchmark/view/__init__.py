"""The viewer: a local web application over run folders. It reads them and never writes to them."""
